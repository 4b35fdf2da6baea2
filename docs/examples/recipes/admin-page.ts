import { type Middleware, queue, RouteCollection, Server } from 'framework'
import { basic, userOf } from 'framework/plugins/auth'

const parcels = queue<{ book: string }>('recipe-parcels')

/** Escapes what comes from data: the one rule of every page that is written by hand. */
const html = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

export function makeServer(staff: ReadonlyMap<string, string>) {
  // In an application: passwords.verify, or the session of the log-in.
  const people = basic((name, password) => (staff.get(name) === password ? { id: name, role: 'staff' } : undefined))
  const staffOnly: Middleware = function staffOnly(req, res, next) {
    return userOf(req)?.role === 'staff' ? next() : res.forbidden()
  }

  const routes = new RouteCollection()
  const orders = ['Kindred', '<i>Emma</i>']
  routes.group('/admin', [staffOnly], (admin) => {
    admin.get('/', (req, res) =>
      res.html(`<!doctype html><html lang="en"><title>Admin</title>
<h1>Hello ${html(userOf(req)?.id ?? '')}</h1>
<ul>${orders.map((order) => `<li>${html(order)}</li>`).join('')}</ul>
<p><a href="/admin/queues">Queues</a> <a href="/admin/jobs">Jobs</a></p>`),
    )
  })
  routes.post('/orders', { auth: false }, async (_req, res) => {
    await parcels.publish({ book: 'Kindred' })
    return res.accepted()
  })

  return new Server({
    router: routes,
    plugins: {
      helmet: true,
      csrf: true,
      // Guesses are counted before the password is checked.
      rateLimit: { limit: 100 },
      auth: { schemes: { people }, realm: 'admin' },
      // Each page has the same guard: what a browser sends for one, it sends for all of this host.
      queues: { ui: { path: '/admin/queues', middlewares: [staffOnly], by: (req) => userOf(req)?.id } },
      cron: { crons: [], ui: { path: '/admin/jobs', middlewares: [staffOnly] } },
      openapi: { path: '/admin/docs', middlewares: [staffOnly] },
    },
  })
}
