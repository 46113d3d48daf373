// Preloaded (`node --import`) into server-everything, which can be given a port but cannot tell which one it got: says
// the address of the HTTP server that it listens on, and each standalone GET that reaches it. It changes nothing.
import { Server } from 'node:http';
import { writeSync } from 'node:fs';

const say = (event, fields) => writeSync(1, `${JSON.stringify({ event, ...fields })}\n`);
const listen = Server.prototype.listen;
Server.prototype.listen = function (...args) {
    this.once('listening', () => say('listening', { url: `http://127.0.0.1:${this.address().port}/mcp` }));
    this.on('request', req => {
        const { 'mcp-session-id': session, 'last-event-id': last = null } = req.headers;
        if (req.method === 'GET') say('get', { session, last });
    });
    return listen.apply(this, args);
};
