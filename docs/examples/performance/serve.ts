import { makeServer, type Variant } from './server.ts'

/** The process that is measured: it reports where it listens, and what it has used so far. */
const server = makeServer(process.argv[2] as Variant)
await server.listen()
process.on('message', () => process.send?.({ cpu: process.cpuUsage(), memory: process.memoryUsage.rss() }))
process.on('disconnect', () => process.exit())
process.send?.({ url: server.url })
