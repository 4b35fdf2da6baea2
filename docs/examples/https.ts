import { readFileSync } from 'node:fs'
import { Server } from 'framework'

// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -subj /CN=localhost
const { KEY = 'key.pem', CERT = 'cert.pem' } = process.env

const server = new Server({ https: { key: readFileSync(KEY), cert: readFileSync(CERT) } })
server.get('/', (req) => ({ protocol: req.protocol, url: req.url }))

await server.listen(() => console.log(server.url))
