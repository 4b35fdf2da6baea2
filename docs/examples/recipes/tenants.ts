import { HttpError, type Request, RouteCollection, Server, sqlMigrations } from 'framework'
import { session, userOf } from 'framework/plugins/auth'
import { z } from 'zod'

declare module 'framework' {
  interface SessionData {
    /** The company that the person has chosen. */
    company: string
  }
}

const migrations = sqlMigrations({
  '001-members': 'create table members (person text not null, company text not null, primary key (person, company))',
  '002-first': "insert into members values ('ada', 'acme'), ('ada', 'globex'), ('bob', 'globex')",
  '003-invoices': 'create table invoices (id integer primary key, company text not null, total integer not null)',
  '004-first': "insert into invoices (company, total) values ('acme', 100), ('globex', 200)",
})

const web = session((id: string) => ({ id }))
const personOf = (req: Request) => (userOf(req) as { readonly id: string } | undefined)?.id

export function makeServer(secret: string): Server {
  const routes = new RouteCollection()
  const query = <Row extends object>(text: string, values: string[]) =>
    server.services.get('database').query<Row>(text, values)
  /** Asked for each request: who has left a company no longer reaches its data. */
  const companiesOf = async (person: string | undefined) => {
    const found = 'select company from members where person = $1 order by company'
    return person ? (await query<{ company: string }>(found, [person])).rows.map(({ company }) => company) : []
  }

  // Stands for a log-in with a password.
  routes.post('/log-in/:person', { auth: false, tenant: false }, async (req, res) => {
    await web.logIn(req, req.params.person)
    return res.noContent()
  })
  routes.get('/companies', { tenant: false }, (req) => companiesOf(personOf(req)))
  routes.put('/company', { tenant: false, body: z.object({ company: z.string() }) }, async (req, res) => {
    const { company } = req.body
    if (!(await companiesOf(personOf(req))).includes(company)) throw new HttpError(403, { code: 'NotAMemberError' })
    req.session.company = company
    return res.noContent()
  })
  routes.get('/invoices', { tenant: 'required' }, async (req) => {
    const { rows } = await query('select id, total from invoices where company = $1', [req.tenant.id])
    return rows
  })

  const server: Server = new Server({
    router: routes,
    plugins: {
      session: { secret },
      auth: { schemes: { web } },
      csrf: true,
      database: { migrations },
      tenant: {
        resolve: async (req) => (await companiesOf(personOf(req))).find((company) => company === req.session.company),
      },
    },
  })
  return server
}
