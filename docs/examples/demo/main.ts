import { env } from './env.ts'
import { makeServer } from './server.ts'

try {
  // The environment variables PORT and HOST are the defaults of `port` and `host`.
  const file = env.get('DATA_FILE')
  const server = makeServer(file === undefined ? {} : { file })
  await server.listen(() => console.log(welcome(server.url)))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

function welcome(url: string): string {
  const json = `-H 'content-type: application/json'`
  const ada = `-H 'authorization: Bearer ada'`
  return `
A library at ${url}

  ${url}/app/      in a browser
  ${url}/docs      the API, where you can try each route; a librarian's token is ada
  ${url}/graphql   GraphiQL
  ${url}/crons     the scheduled jobs, on Node.js; the user name and the password are both ada

  curl ${url}/books
  curl '${url}/books?author=Italo%20Calvino'
  curl ${url}/books ${ada} ${json} -d '{"title":"Kindred","author":"Octavia E. Butler"}'
  curl ${url}/loans ${ada} ${json} -d '{"book":"1"}'
  curl ${url}/loans ${ada}
  curl ${url}/authors
  curl ${url}/graphql ${json} -d '{"query":"{ books { title available } }"}'
  curl -i ${url}/books/1                 # again: x-cache: HIT
  curl -X DELETE ${url}/books/2 ${ada}
  curl -N ${url}/events
  curl ${url}/crons ${ada}               # scheduled jobs
  curl ${url}/health/ready
  curl -i -X PUT ${url}/books

Ctrl-C stops it.
`
}
