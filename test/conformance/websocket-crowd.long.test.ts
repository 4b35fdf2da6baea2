import { describeCrowd } from './websocket-crowd.ts'

// Bun and Deno have the same code of ours.
describeCrowd({ node: 10_000, bun: 1_000, deno: 1_000 })
