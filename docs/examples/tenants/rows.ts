import { currentTenant, type Request, RouteCollection, Server } from 'framework'

/** The routes, and how a request finds its tenant. */
export function makeServer(url: string, resolve: (req: Request) => string | undefined): Server {
  const routes = new RouteCollection()
  const server = new Server({ router: routes, plugins: { database: { url }, tenant: { resolve } } })

  server.get('/invoices', { transaction: true }, async (req) => {
    await req.database.query("select set_config('app.tenant', $1, true)", [currentTenant()?.id])
    return (await req.database.query('select * from invoices')).rows
  })
  // As it would be with a mistake.
  server.get('/forgotten', async (req) => (await req.database.query('select * from invoices')).rows)
  return server
}
