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
  const entry = join(import.meta.dirname, '../../node_modules/azurite/dist/src/blob/main.js')
  const options = ['--blobHost', '127.0.0.1', '--blobPort', String(port), '--location', folder]
  // It supports fewer versions of the protocol than the clients.
  const flags = ['--inMemoryPersistence', '--skipApiVersionCheck', '--silent', '--disableTelemetry']
  const server = await startOwnServer({
    name: 'azurite',
    port,
    url: `http://127.0.0.1:${port}/${account}`,
    endsWith: 'SIGTERM',
    start: () => spawn(process.execPath, [entry, ...options.slice(0, 4), ...flags], { cwd: folder, stdio: 'ignore' }),
    answers: () => listens(port),
    removeData: () => rmSync(folder, { recursive: true, force: true }),
  })
  const parts = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${accountKey}`
  return Object.assign(server, { connectionString: `${parts};BlobEndpoint=${server.url};` })
}
