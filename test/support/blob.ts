import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, listens, type OwnServer, startOwnServer } from './own-server.ts'

/** The account and the key of every copy of the emulator. */
const account = 'devstoreaccount1'
const accountKey = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

export interface BlobServer extends OwnServer {
  readonly connectionString: string
}

/** Starts an emulator of Azure Blob Storage; resolves when it answers. `stop` it in `afterAll`. It checks signatures. */
export async function startBlob(): Promise<BlobServer> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'framework-blob-'))
  const emulator = join(import.meta.dirname, '../../node_modules/azurite/dist/src/blob')
  const at = (file: string) => JSON.stringify(join(emulator, file))
  // Its own start function loads the drivers of databases too, which takes 0.4 s of 1.1. It supports fewer versions of the protocol than the clients.
  const script = `const { default: BlobConfiguration } = require(${at('BlobConfiguration.js')})
    const { default: BlobServer } = require(${at('BlobServer.js')})
    const options = { enableAccessLog: false, skipApiVersionCheck: true, isMemoryPersistence: true }
    new BlobServer(Object.assign(new BlobConfiguration('127.0.0.1', ${port}), options)).start()`
  const server = await startOwnServer({
    name: 'azurite',
    port,
    url: `http://127.0.0.1:${port}/${account}`,
    endsWith: 'SIGTERM',
    start: () => spawn(process.execPath, ['--input-type=commonjs', '-e', script], { cwd: folder, stdio: 'ignore' }),
    answers: () => listens(port),
    removeData: () => rmSync(folder, { recursive: true, force: true }),
  })
  const parts = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${accountKey}`
  return Object.assign(server, { connectionString: `${parts};BlobEndpoint=${server.url};` })
}
