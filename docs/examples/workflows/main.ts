import { makeServer } from './server.ts'

await makeServer().listen()
