// What the conformance runner's `active` scenarios ask for by name: tools, resources, prompts. Data and small functions
// only; nothing here knows HTTP, sessions, or which of the two ways a question to the client takes.

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const text = words => ({ type: 'text', text: words });
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const embedded = (uri, mimeType, words) => ({ type: 'resource', resource: { uri, mimeType, text: words } });
const says = (...content) => ({ content });

// === Tools: how each is called, and what it does with `call` (see server.mjs) ===

const none = { type: 'object', properties: {} };
const one = name => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });

const defaults = {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true }
};

const titled = (...names) => names.map((title, index) => ({ const: `value${index + 1}`, title }));
const options = ['option1', 'option2', 'option3'];
const enums = {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } }
};

const contact = {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" }
};

async function elicit(call, message, properties, required) {
    const requestedSchema = { type: 'object', properties, ...(required && { required }) };
    const { action, content } = await call.ask('elicitation/create', { message, requestedSchema });
    return says(text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`));
}

async function sample(call, { prompt }) {
    const messages = [{ role: 'user', content: text(prompt) }];
    const answer = await call.ask('sampling/createMessage', { messages, maxTokens: 100 });
    return says(text(`LLM response: ${answer.content.text}`));
}

async function log(call) {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await call.notify('notifications/message', { level: 'info', data });
    }
    return says(text('Tool with logging executed successfully'));
}

async function report(call) {
    for (const progress of [0, 50, 100]) {
        await call.notify('notifications/progress', { progressToken: call.progressToken, progress, total: 100 });
    }
    return says(text('Tool with progress executed successfully'));
}

function fail() {
    throw new Error('This tool intentionally returns an error for testing');
}

const mixed = embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}');
const resource = embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.');

/** Name -> [input schema, what it does]. */
export const tools = {
    test_simple_text: [none, () => says(text('This is a simple text response for testing.'))],
    test_image_content: [none, () => says(image)],
    test_audio_content: [none, () => says({ type: 'audio', data: SILENCE, mimeType: 'audio/wav' })],
    test_embedded_resource: [none, () => says(resource)],
    test_multiple_content_types: [none, () => says(text('Multiple content types test:'), image, mixed)],
    test_tool_with_logging: [none, log],
    test_tool_with_progress: [none, report],
    test_error_handling: [none, fail],
    test_sampling: [one('prompt'), sample],
    test_elicitation: [one('message'), (call, { message }) => elicit(call, message, contact, Object.keys(contact))],
    test_elicitation_sep1034_defaults: [none, call => elicit(call, 'Please review the defaults', defaults)],
    test_elicitation_sep1330_enums: [none, call => elicit(call, 'Please choose', enums)]
};

// === Resources ===

const contents = (uri, mimeType, body) => ({ contents: [{ uri, mimeType, ...body }] });

/** URI -> what reading it gives. */
export const resources = {
    'test://static-text': uri => contents(uri, 'text/plain', { text: 'This is the content of the static text resource.' }),
    'test://static-binary': uri => contents(uri, 'image/png', { blob: PIXEL }),
    'test://watched-resource': uri => contents(uri, 'text/plain', { text: 'Watched resource content' })
};

export const template = 'test://template/{id}/data';

/** What reading a resource of the template gives; undefined when the URI is none. */
export function readTemplate(uri) {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id === undefined) return undefined;
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return contents(uri, 'application/json', { text: JSON.stringify(data) });
}

// === Prompts ===

const user = content => ({ role: 'user', content });

/** Name -> [names of its arguments, its messages]. */
export const prompts = {
    test_simple_prompt: [[], () => [user(text('This is a simple prompt for testing.'))]],
    test_prompt_with_arguments: [
        ['arg1', 'arg2'],
        ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))]
    ],
    test_prompt_with_embedded_resource: [
        ['resourceUri'],
        ({ resourceUri }) => [
            user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
            user(text('Please process the embedded resource above.'))
        ]
    ],
    test_prompt_with_image: [[], () => [user(image), user(text('Please analyze the image above.'))]]
};
