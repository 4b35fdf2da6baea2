import type { AsyncApiExchange, AsyncApiMessage } from '../asyncapi/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import { checkOf } from '../shared/schema/check.ts'
import { safely, unlessLate } from '../shared/values/safely.ts'
import { errorType, invalidMessageCode } from './messages.ts'
import type { WebsocketRouteOptions } from './options.ts'
import type { MessageSchemas } from './types.ts'

/** Messages of any content. Unless the handlers receive or send messages of their own, another plugin describes them. */
const any = (isOwn: boolean): readonly AsyncApiMessage[] => [
  { name: 'message', description: 'Text or bytes of any content.', fallback: !isOwn },
]

const issue = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'JSON pointer into the data of the message.' },
    keyword: { type: 'string' },
    message: { type: 'string' },
    params: { type: 'object' },
  },
  required: ['path', 'message'],
}

/** The response to an invalid message. */
const errorFrame: AsyncApiMessage = {
  name: errorType,
  summary: 'A message of the client was not valid, so no handler received it.',
  data: {
    $id: 'InvalidMessage',
    type: 'object',
    properties: {
      code: { type: 'string', const: invalidMessageCode },
      message: { type: 'string' },
      errors: { type: 'array', items: issue },
    },
    required: ['code', 'message'],
  },
}

/** The messages that a route with a websocket exchanges, for the description of messages. */
export function exchange({ options }: DescribedRoute): AsyncApiExchange | undefined {
  const { websocket, incoming, outgoing, socket } = options
  if (websocket === undefined) return undefined
  const { protocols } = (socket ?? {}) as WebsocketRouteOptions
  const { message, open } = websocket
  const receive = incoming === undefined ? any(message !== undefined) : typed(incoming, 'body')
  const send = outgoing === undefined ? any((message ?? open) !== undefined) : typed(outgoing, 'exact')
  return {
    protocol: 'ws',
    receive,
    send: incoming === undefined ? send : [...send, errorFrame],
    ...(protocols !== undefined && { subprotocols: protocols }),
  }
}

function typed(schemas: MessageSchemas, mode: 'body' | 'exact'): AsyncApiMessage[] {
  return Object.entries(schemas).map(([name, data]) => ({ name, data, optional: takesNothing(data, mode) }))
}

/** Whether a message of this type may come without data: a JSON Schema of the whole value cannot express that. */
function takesNothing(schema: object, mode: 'body' | 'exact'): boolean {
  // Before the boot, a schema may be one with which no server would start.
  return safely(() => unlessLate(checkOf(schema, mode)(undefined)))?.ok === true
}
