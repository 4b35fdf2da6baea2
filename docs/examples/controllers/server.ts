import { fileURLToPath } from 'node:url'
import { Server } from 'framework'

/** Makes a server with the controllers of this folder, which it finds by their files. */
export const makeServer = () =>
  new Server({
    controllerPatterns: [fileURLToPath(new URL('authors.ts', import.meta.url))],
    plugins: { cache: true },
  })
