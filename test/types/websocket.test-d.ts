import { defineMiddleware, PolicyManager, router, type ServerSocket } from 'framework'
import { Type } from 'typebox'
import { z } from 'zod'
import type { Equal, Expect } from './expect.ts'

const user = defineMiddleware<{ user: { id: string } }>(function user(_req, _res, next) {
  return next()
})
const staff = new PolicyManager({
  site: { member: (user?: { id: string }): user is { id: string } => user !== undefined },
})

// Without schemas: text or bytes come, anything goes.
router.ws('/a/:room', {
  data: (req) => ({ agent: req.headers['user-agent'], room: req.params.room }),
  open(socket) {
    type _Params = Expect<Equal<typeof socket.params.room, string>>
    type _Data = Expect<Equal<typeof socket.data.room, string>>
    socket.send('text')
    socket.send(new Uint8Array(1))
    socket.send(new ArrayBuffer(1))
    socket.send(new DataView(new ArrayBuffer(1)))
    socket.send(new Float32Array(1))
    socket.send({ any: 'thing' })
    socket.send(['a', { list: true }])
    interface Told {
      readonly told: boolean
    }
    socket.send({ told: true } as Told)
    socket.send({} as object)
    // @ts-expect-error: JSON would leave {} of it
    socket.send(new Map([['a', 1]]))
    // @ts-expect-error: it is not awaited
    socket.send(Promise.resolve('text'))
    // @ts-expect-error: neither a string nor bytes nor an object
    socket.send(undefined)
    // @ts-expect-error: no such parameter
    socket.params.id
  },
  message(_socket, message) {
    type _Message = Expect<Equal<typeof message, string | Uint8Array>>
  },
  async close(_socket, code, reason) {
    type _Code = Expect<Equal<[typeof code, typeof reason], [number, string]>>
  },
})

// With schemas of each kind: handler and `send` are typed by them.
router.ws(
  '/b',
  {
    incoming: {
      add: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
      say: z.string(),
      move: Type.Object({ x: Type.Number() }),
    },
    outgoing: { sum: z.number(), done: z.undefined() },
  },
  {
    message(socket, message) {
      type _Types = Expect<Equal<typeof message.type, 'add' | 'say' | 'move'>>
      if (message.type === 'add') message.data.a.toFixed()
      if (message.type === 'say') message.data.toUpperCase()
      if (message.type === 'move') message.data.x.toFixed()
      socket.send({ type: 'sum', data: 1 })
      socket.send({ type: 'done' })
      // @ts-expect-error: not a number
      socket.send({ type: 'sum', data: '1' })
      // @ts-expect-error: no such message
      socket.send({ type: 'total', data: 1 })
      // @ts-expect-error: text is not one of the messages
      socket.send('text')
    },
  },
)

// What guards prove is there for `data`, and so for the socket.
router.ws('/c', { middlewares: [user] }, { data: (req) => req.user.id, open: (socket) => socket.data.toUpperCase() })
router.ws('/d', { policy: { manager: staff, scope: 'site', handler: 'member' } }, { data: (req) => req.user.id })
router.group('/teams/:team', [user], (group) => {
  group.ws('/live', { data: (req) => [req.user.id, req.params.team], open: (socket) => socket.params.team.length })
})

// Options that do not exist, and handlers in the wrong place.
// @ts-expect-error: misspelt
router.ws('/e', { polciy: [] }, { open() {} })
// @ts-expect-error: no handlers
router.ws('/f', { incoming: {} })
// @ts-expect-error: a function is not an object of handlers
router.ws('/g', () => {})
// @ts-expect-error: the handlers are the last argument
router.ws('/h', { websocket: { open() {} } }, { open() {} })
// @ts-expect-error: a websocket is opened without a body
router.ws('/i', { body: z.string() }, { open() {} })

declare const socket: ServerSocket<{ id: string }>
const id: string = socket.data.id
void id
