// Prints the files that one request over a socket runs functions of, by V8's coverage.
import inspector from 'node:inspector/promises'

const { router, Server } = await import('../../../index.ts')

const root = new URL('../../../', import.meta.url).href
const server = new Server({ port: 0, host: '127.0.0.1' })
router.get('/books/:id', (/** @type {{ params: { id: string } }} */ req) => ({ id: req.params.id }))
await server.listen()
const url = `${server.url}/books/7`

const times = 20
async function ask() {
  for (let i = 0; i < times; i++) await (await fetch(url)).text()
}

// What happens once only.
await ask()
const session = new inspector.Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await session.post('Profiler.takePreciseCoverage')
await ask()
const { result } = await session.post('Profiler.takePreciseCoverage')
await server.close()

const crossed = result
  .filter(({ url: file }) => file.startsWith(root) && !/\/(node_modules|test)\//.test(file))
  .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) >= times))
console.log(JSON.stringify(crossed.map(({ url: file }) => file.slice(root.length)).sort()))
