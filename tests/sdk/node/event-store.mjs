// An event store whose ids can be read: STREAM-N is the N-th event of the store's STREAM-th stream, 0 the first (on a
// call's stream that is the empty priming event). It keeps everything; a test's session is short.

export class ReadableEventStore {
    #streams = new Map();
    #events = [];

    async storeEvent(streamId, message) {
        if (!this.#streams.has(streamId)) this.#streams.set(streamId, { ordinal: this.#streams.size, events: 0 });
        const stream = this.#streams.get(streamId);
        const id = `${stream.ordinal}-${stream.events++}`;
        this.#events.push({ id, streamId, message });
        return id;
    }

    // The SDKs use it to refuse (409) the resume of a stream that is still connected.
    async getStreamIdForEventId(id) {
        return this.#events.find(event => event.id === id)?.streamId;
    }

    async replayEventsAfter(lastId, { send }) {
        const from = this.#events.findIndex(event => event.id === lastId);
        const { streamId } = this.#events[from];
        for (const event of this.#events.slice(from + 1)) {
            // A priming event is stored as an empty object: it has nothing to replay.
            if (event.streamId === streamId && event.message.jsonrpc) await send(event.id, event.message);
        }
        return streamId;
    }
}
