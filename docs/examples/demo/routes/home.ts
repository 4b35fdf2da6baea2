import { type Request, router } from 'framework'

interface Place {
  readonly path: string
  readonly title: string
  readonly text: string
}

const pages: Readonly<Record<string, Place>> = {
  docs: { path: '/docs', title: 'API', text: 'Each route with its schemas, to try: the token ada is a librarian.' },
  inspector: {
    path: '/_inspector',
    title: 'Inspector',
    text: 'What a request has caused: messages, jobs, emails. The first time, open the address in your terminal: it has the token.',
  },
  queues: {
    path: '/queues',
    title: 'Queues',
    text: 'Messages, failures, retries. The name is ada, and so is the password.',
  },
  jobs: {
    path: '/crons',
    title: 'Scheduled jobs',
    text: 'When each ran and runs next. The name is ada, and so is the password.',
  },
  health: { path: '/health/ready', title: 'Health', text: 'The probe that a load balancer asks.' },
  page: { path: '/app/', title: 'The library', text: 'A page for readers, live: open it twice.' },
  graphql: { path: '/graphql', title: 'GraphQL', text: 'The books once more, with GraphiQL.' },
}

/** Returns the pages of this server: tests and `--no-inspector` leave some plugins out. */
function pagesOf({ server }: Request): Record<string, Place> {
  const names = new Set(server.plugins.children.map(({ name }) => name))
  return Object.fromEntries(Object.entries(pages).filter(([key]) => key !== 'inspector' || names.has('inspector')))
}

// A browser gets a page with links, and every other client JSON.
router.get('/', { apidoc: false }, (req, res) => {
  const places = pagesOf(req)
  res.header('vary', 'accept')
  if (req.headers.accept?.includes('text/html')) return res.html(pageOf(new URL(req.url).origin, Object.values(places)))
  const data = { books: '/books', authors: '/authors', loans: '/loans', list: '/list', events: '/events' }
  return { ...data, ...Object.fromEntries(Object.entries(places).map(([key, { path }]) => [key, path])) }
})

const pageOf = (origin: string, places: readonly Place[]) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>The library: pages of this server</title>
    <link rel="icon" href="/app/icon.svg" />
    <link rel="stylesheet" href="/app/library.css" />
  </head>
  <body>
    <main class="start">
      <h1>The library runs</h1>
      <p class="lead">One server with its API, queues, scheduled jobs and emails. Lend a book, and follow it in the inspector:</p>
      <pre><code>curl -H 'authorization: Bearer ada' -H 'content-type: application/json' -d '{"book":"1"}' ${origin}/loans</code></pre>
      <ul class="places">
${places.map(({ path, title, text }) => `        <li><a href="${path}">${title}</a> ${text}</li>`).join('\n')}
      </ul>
    </main>
  </body>
</html>
`
