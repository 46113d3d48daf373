// The workaround of typescript-sdk#2659: a fetch that reads the SSE bytes itself and notes which POST a server request
// came on. It changes no byte, and it has noted a message before the SDK sees it.

export class WrappedFetch {
    #origins = new Map();
    #ended;

    /** `ended(stream)` is called when a stream has ended as it should; `stream` is the tag of its call, or `GET`. */
    constructor(ended) {
        this.#ended = ended;
    }

    /** The tag of the call on whose stream the server request with this id came, or `GET`. */
    origin(requestId) {
        return this.#origins.get(requestId);
    }

    fetch = async (url, init) => {
        const response = await fetch(url, init);
        if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
        const stream = init.method === 'POST' ? (JSON.parse(init.body).params?.arguments?.tag ?? null) : 'GET';
        return new Response(response.body.pipeThrough(this.#reader(stream)), response);
    };

    #reader(stream) {
        const decoder = new TextDecoder();
        let line = '';
        return new TransformStream({
            transform: (chunk, controller) => {
                const lines = (line + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
                line = lines.pop();
                for (const whole of lines) this.#note(whole, stream);
                controller.enqueue(chunk);
            },
            flush: () => this.#ended(stream)
        });
    }

    #note(line, stream) {
        if (!line.startsWith('data:')) return;
        const data = line.slice('data:'.length).trim();
        if (data === '') return;
        const message = JSON.parse(data);
        if (message.method !== undefined && message.id !== undefined) this.#origins.set(message.id, stream);
    }
}
