import { describeCrowd } from './websocket-crowd.ts'

// The short form: more of them are in the long form.
describeCrowd({ node: 500, bun: 300, deno: 300 })
