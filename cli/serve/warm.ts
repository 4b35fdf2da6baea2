import { esbuild } from '../typescript/esbuild.ts'

/**
 * Boots a small server of its own, so that the code with which most applications compile their routes is loaded, and has run once: on
 * Node.js 20, that is 0.15 s of a start. Then esbuild, which translates TypeScript, is started. The server has a router of its own and closes
 * again, invisible to the application. It does not load packages that tracing tools replace: an application loads these tools first.
 *
 * Without it, an application only takes longer to start: a failure to boot here is ignored.
 */
export async function warmUp(): Promise<void> {
  try {
    const { RouteCollection, Server } = await import('../../index.ts')
    // PORT in the environment may be invalid: Kubernetes sets it to an address.
    const server = new Server({ router: new RouteCollection(), port: 0 })
    const body = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    server.post('/', { body, responses: { 200: body } }, (req) => req.body)
    await server.ready()
    await server.close()
    // Bun and Deno translate TypeScript themselves.
    if (!('Bun' in globalThis || 'Deno' in globalThis)) esbuild()
  } catch {}
}
