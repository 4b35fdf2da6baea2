import {
  currentTenant,
  HttpError,
  MemoryStorageProvider,
  memoryQueue,
  type Request,
  RouteCollection,
  Server,
} from 'framework'
import { bearer, userOf } from 'framework/plugins/auth'

interface Invoice {
  readonly id: string
  readonly tenant: string
  total: number
}

const people = new Map([
  ['key-of-ann', { id: 'ann', tenant: 'acme' }],
  ['key-of-bob', { id: 'bob', tenant: 'globex' }],
])

// Rows have their tenant, and every query asks for it: the framework does not read queries.
const rows = new Map<string, Invoice>()
const own = (id: string): Invoice => {
  const found = rows.get(id)
  if (found === undefined || found.tenant !== currentTenant()?.id)
    throw new HttpError(404, { code: 'INVOICE_NOT_FOUND' })
  return found
}

export const printed = memoryQueue<{ invoice: string }>('printed-invoices')
export const prints: string[] = []
void printed.subscribe(({ invoice }) => prints.push(`${invoice} of ${currentTenant()?.id}`))

const routes = new RouteCollection()
const invoice = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] } as const

routes.get('/invoices', { tenant: 'required' }, (req) =>
  [...rows.values()].filter((one) => one.tenant === req.tenant.id),
)
routes.post('/invoices', { tenant: 'required', body: invoice }, async (req, res) => {
  const one = { id: String(rows.size + 1), tenant: req.tenant.id, total: req.body.total }
  rows.set(one.id, one)
  await printed.publish({ invoice: one.id })
  res.created(one)
})
routes.get('/invoices/:id', { cache: { ttl: 60, shared: true } }, (req) => own(req.params.id))
routes.put('/invoices/:id', { body: invoice }, (req) => Object.assign(own(req.params.id), req.body))
routes.delete('/invoices/:id', (req, res) => {
  rows.delete(own(req.params.id).id)
  res.noContent()
})
routes.get('/about', { auth: false, tenant: false }, () => 'invoices for everyone')

const tenantOf = (req: Request) => (userOf(req) as { readonly tenant?: string } | undefined)?.tenant

export const server = new Server({
  router: routes,
  plugins: {
    auth: { schemes: { key: bearer((token) => people.get(token)) } },
    tenant: { resolve: tenantOf },
    cache: true,
    queues: true,
    storage: { providers: { files: new MemoryStorageProvider() } },
  },
})

// Below the plugins, whose service it uses. A key of one tenant is not that of another.
server.put('/files/:name', async (req, res) => {
  await server.services.get('storage').putObject(req.params.name, JSON.stringify(req.body))
  res.header('location', `/files/${encodeURIComponent(req.params.name)}`).noContent()
})
server.get('/files/:name', (req) => server.services.get('storage').getObject(req.params.name, 'text'))
