import type * as http from 'node:http'

/**
 * The members of `node:http` that are used, as values and as types.
 *
 * An `import` of a module of Node.js reads every export that it has. Since Node.js 22 `node:http` has `WebSocket`, which loads
 * the whole of fetch when it is read: 27 ms and some megabytes of each start, for a name that nobody asked for.
 */
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http')
export type IncomingMessage = http.IncomingMessage
export type ServerResponse = http.ServerResponse
