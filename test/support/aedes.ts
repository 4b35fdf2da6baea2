import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { answersMqtt } from './mosquitto.ts'
import { freePort, type OwnServer, startOwnServer } from './own-server.ts'
import { secondChoice } from './run/second-choice.mjs'

const folder = secondChoice('mosquitto')

/** Whether the broker is installed that replaces mosquitto where that is missing. */
export const hasAedes = folder !== undefined

/** Starts a broker of MQTT 3.1.1 that keeps everything in memory; resolves when it answers. `stop` it in `afterAll`. */
export async function startAedes(): Promise<OwnServer> {
  if (folder === undefined) throw new Error('aedes is not installed')
  const port = await freePort()
  const script = `import { createServer } from 'node:net'
    import { Aedes } from ${JSON.stringify(pathToFileURL(join(folder, 'aedes.js')).href)}
    const broker = await Aedes.createBroker()
    createServer(broker.handle).listen(${port}, '127.0.0.1')`
  return startOwnServer({
    name: 'aedes',
    port,
    url: `mqtt://127.0.0.1:${port}`,
    endsWith: 'SIGTERM',
    start: () => spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' }),
    answers: () => answersMqtt(port),
    removeData: () => {},
  })
}
