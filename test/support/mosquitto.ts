import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort, type OwnServer, startOwnServer } from './own-server.ts'

// Debian installs it in a folder that is only in the path of root.
const program = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  .map((folder) => join(folder, 'mosquitto'))
  .find((file) => existsSync(file))

/** Whether this machine has a mosquitto to start; the test run installs it where it can, and prints a warning where it cannot. */
export const hasMosquitto = program !== undefined

/** An MQTT broker; `url` is its TCP listener. */
export interface Mosquitto extends OwnServer {
  /** The same over websockets. */
  readonly websocketUrl: string
}

/** CONNECT of a client without a name, and the response that accepts it. */
export function answersMqtt(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const settle = (outcome: boolean) => {
      socket.destroy()
      resolve(outcome)
    }
    const hello = [0x10, 12, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 10, 0, 0]
    socket.once('connect', () => socket.write(Uint8Array.from(hello)))
    // Any return code: a broker that requires a password is up, too.
    socket.once('data', (data) => settle(data[0] === 0x20))
    socket.once('error', () => settle(false))
    socket.setTimeout(10_000, () => settle(false))
  })
}

/**
 * Starts an MQTT broker with persistence; resolves when it answers. `stop` it in `afterAll`.
 *
 * @param lines Further lines of its configuration, before the listeners.
 * @example
 * const broker = await startMosquitto('max_inflight_messages 1')
 * broker.url // mqtt://127.0.0.1:49152
 */
export async function startMosquitto(...lines: string[]): Promise<Mosquitto> {
  if (program === undefined) throw new Error('mosquitto is not installed')
  const [port, websocketPort] = [await freePort(), await freePort()]
  const folder = mkdtempSync(join(tmpdir(), 'framework-mosquitto-'))
  const file = join(folder, 'mosquitto.conf')
  const configuration = [
    // As root it would switch to a user that may not write into this folder.
    ...(process.getuid?.() === 0 ? ['user root'] : []),
    ...(lines.some((line) => line.startsWith('allow_anonymous')) ? [] : ['allow_anonymous true']),
    'persistence true',
    `persistence_location ${folder}/`,
    // After every change, so that a kill loses nothing that was acknowledged.
    'autosave_on_changes true',
    'autosave_interval 1',
    ...lines,
    `listener ${port} 127.0.0.1`,
    `listener ${websocketPort} 127.0.0.1`,
    'protocol websockets',
  ]
  writeFileSync(file, `${configuration.join('\n')}\n`)
  const server = await startOwnServer({
    name: 'mosquitto',
    port,
    url: `mqtt://127.0.0.1:${port}`,
    endsWith: 'SIGTERM',
    start: () => spawn(program, ['-c', file], { stdio: 'ignore' }),
    answers: () => answersMqtt(port),
    removeData: () => rmSync(folder, { recursive: true, force: true }),
  })
  return Object.defineProperties({} as Mosquitto, {
    ...Object.getOwnPropertyDescriptors(server),
    websocketUrl: { value: `ws://127.0.0.1:${websocketPort}`, enumerable: true },
  })
}
