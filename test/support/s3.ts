import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, listens, type OwnServer, startOwnServer } from './own-server.ts'

/**
 * Starts an emulator of S3 with one bucket, `objects`; resolves when it answers. `stop` it in `afterAll`. It refuses links
 * that are too old, and accepts every signature.
 */
export async function startS3(): Promise<OwnServer> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'framework-s3-'))
  const entry = join(import.meta.dirname, '../../node_modules/s3rver/lib/s3rver.js')
  const options = {
    port,
    address: '127.0.0.1',
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'objects' }],
  }
  // Its keys are those of every emulator; a bare process ends with its signal.
  const script = `import S3rver from ${JSON.stringify(entry)}
    await new S3rver(${JSON.stringify(options)}).run()`
  return startOwnServer({
    name: 's3rver',
    port,
    url: `http://127.0.0.1:${port}`,
    endsWith: 'SIGTERM',
    start: () =>
      spawn(process.execPath, ['--no-deprecation', '--input-type=module', '-e', script], { stdio: 'ignore' }),
    answers: () => listens(port),
    removeData: () => rmSync(folder, { recursive: true, force: true }),
  })
}

/** The built-in credentials of the emulator. */
export const s3Credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
