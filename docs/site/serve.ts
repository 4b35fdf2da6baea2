import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Server } from 'framework'
import { compression, static as files } from 'framework/plugins'

// What `npm run site -- --serve` starts: it serves the site as a host of static files would.
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(import.meta.dirname, '../../dist-site') },
  },
})
const server = new Server({
  host: '127.0.0.1',
  port: Number(process.env.PORT ?? 4000),
  plugins: [compression(), files({ root: values.out })],
})
server.setNotFoundHandler((_req, res) => res.status(404).file('404.html', { root: values.out }))
await server.listen(() => console.log(server.url))
