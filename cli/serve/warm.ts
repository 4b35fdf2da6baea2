/**
 * Boots a small server of its own, so that what most applications compile their routes with is loaded, and has run once: on
 * Node.js 20 that is 0.15 s of a start. It has a router of its own and closes again, and an application sees nothing of it.
 * Packages that tools for tracing replace are not among what it loads: an application loads these tools first.
 *
 * Without it an application takes longer, and no more: where this one cannot boot, that is no one's concern.
 */
export async function warmUp(): Promise<void> {
  try {
    await bootSmall()
  } catch {}
}

async function bootSmall(): Promise<void> {
  const { RouteCollection, Server } = await import('../../index.ts')
  // The PORT of the environment may be none: that of Kubernetes is an address.
  const server = new Server({ router: new RouteCollection(), port: 0 })
  const body = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  server.post('/', { body, responses: { 200: body } }, (req) => req.body)
  await server.ready()
  await server.close()
}
