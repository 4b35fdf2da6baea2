import { describeCrowd } from './websocket-crowd.ts'

// The short form: more of them, and Bun and Deno, are in the long form.
describeCrowd({ node: 250 })
