import { makeServer } from './server.ts'

try {
  // The environment variables PORT and HOST are the defaults of `port` and `host`.
  const server = makeServer()
  await server.listen(() => console.log(welcome(server)))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

function welcome({ url, plugins }: ReturnType<typeof makeServer>): string {
  const has = (plugin: string) => plugins.children.some(({ name }) => name === plugin)
  const json = `-H 'content-type: application/json'`
  const ada = `-H 'authorization: Bearer ada'`
  const pages = [
    [`${url}/`, 'begin here: links to all of these'],
    [`${url}/app/`, 'the shelf, live: open it twice'],
    [`${url}/docs`, "the API, where you can try each route; a librarian's token is ada"],
    [`${url}/graphql`, 'GraphiQL'],
    [`${url}/queues`, 'the queues; the user name and the password are both ada'],
    has('cron') && [`${url}/crons`, 'the scheduled jobs; the same name and password'],
  ].filter((page) => page !== false)
  const width = Math.max(...pages.map(([address = '']) => address.length))
  return `
A library at ${url}

${pages.map(([address = '', what]) => `  ${address.padEnd(width)}   ${what}`).join('\n')}

A loan publishes a job, and the job sends an email: lend a book, and follow the request in the inspector.

  curl ${url}/loans ${ada} ${json} -d '{"book":"1"}'
  curl ${url}/loans ${ada}
  curl ${url}/books
  curl '${url}/books?author=Italo%20Calvino'
  curl ${url}/books ${ada} ${json} -d '{"title":"Kindred","author":"Octavia E. Butler"}'
  curl -i ${url}/books/1                 # again: x-cache: HIT
  curl ${url}/graphql ${json} -d '{"query":"{ books { title available } }"}'
  curl -N ${url}/events
  curl -i -X PUT ${url}/books

Ctrl-C stops it.
`
}
