import { describeCrowd } from './websocket-crowd.ts'

// The short form: more of them are in the long form.
describeCrowd({ node: 250, bun: 150, deno: 150 })
