import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { joinInspector, publishInspector, withdrawInspector } from '../../cli/serve/inspector-address.ts'
import { inspectorRequest, requestInspector } from '../../plugins/shared/development/inspector-request.ts'
import { handover, setHandover } from '../../plugins/shared/environment/handover.ts'
import { makeProject, type Project } from '../support/cli.ts'

let project: Project
let file: string
let server: Server | undefined
const notes: string[] = []
const note = (line: string) => void notes.push(line)
beforeEach(() => {
  project = makeProject({ 'node_modules/a/package.json': '{}' })
  file = join(project.folder, 'node_modules/.cache/framework/inspector.json')
})
afterEach(() => {
  notes.length = 0
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  setHandover(undefined as never)
  requestInspector(undefined as never)
  server?.close()
  project.remove()
})

const address = (port: number) => new URL(`http://127.0.0.1:${port}/_inspector?token=secret`)

/** A server that does this with each request, whose number is given; returns the writer that sends to it. */
async function writerTo(respond: (socket: Socket, request: number) => void) {
  let requests = 0
  const sockets = new Set<Socket>()
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('data', () => respond(socket, ++requests))
  })
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  publishInspector(project.folder, address(port))
  expect(joinInspector(project.folder, 'queue-start', note)).toBe(`http://127.0.0.1:${port}/_inspector`)
  const { set, sent } = handover()!.open('inspector', () => {})
  return { sent, send: (id: number) => set(String(id), '{}', 0), requests: () => requests, sockets }
}

test('entries with the token do not go where fetch would send them, such as the proxy of the environment', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new Error('through a proxy')))
  const { send, sent, requests } = await writerTo((socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'),
  )
  send(1)
  await sent!()
  expect(requests()).toBe(1)
})

test('a response that breaks off is an attempt that failed, and does not end the process', async () => {
  const { send, sent, requests } = await writerTo((socket, request) => {
    if (request === 1) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ncut')
    else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
  })
  send(1)
  send(2)
  await sent!()
  expect(requests()).toBe(3)
})

test('a server that does not respond delays the end of a process by seconds, however much waits', async () => {
  const { send, sent, sockets, requests } = await writerTo(() => {})
  const began = performance.now()
  for (let id = 0; id < 400; id++) send(id)
  await sent!()
  // Two attempts of 2 s; 400 of them would take minutes.
  expect(performance.now() - began).toBeLessThan(60_000)
  expect(requests()).toBeLessThan(5)
  for (const socket of sockets) socket.destroy()
})

test('the file is found by commands of the same folder alone, and removed by the server that wrote it', () => {
  publishInspector(project.folder, address(1))
  const other = makeProject({})
  rmSync(join(other.folder, 'node_modules'), { recursive: true, force: true })
  symlinkSync(join(project.folder, 'node_modules'), join(other.folder, 'node_modules'))
  expect(joinInspector(other.folder, 'queue-start', note)).toBeUndefined()
  other.remove()
  for (const wrong of [
    '',
    'null',
    '1',
    '{"address":1}',
    readFileSync(file, 'utf8').replace(/"pid":\d+/, '"pid":"x"'),
  ]) {
    writeFileSync(file, wrong)
    expect(joinInspector(project.folder, 'queue-start', note)).toBeUndefined()
  }
  publishInspector(project.folder, address(1))
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"pid":\d+/, '"pid":1'))
  withdrawInspector(project.folder)
  expect(existsSync(file)).toBe(true)
  publishInspector(project.folder, address(1))
  withdrawInspector(project.folder)
  expect(existsSync(file)).toBe(false)
})

test('a server starts and ends where the file cannot be written', () => {
  mkdirSync(file, { recursive: true })
  publishInspector(project.folder, address(1))
  withdrawInspector(project.folder)
  expect(joinInspector(project.folder, 'queue-start', note)).toBeUndefined()
})

test('a server that was restarted by hand has another token, which the file names', async () => {
  const tokens: unknown[] = []
  const { send, sent } = await writerTo((socket) => {
    const isNew = tokens.length > 0
    if (!isNew) publishInspector(project.folder, new URL(`${address(socket.localPort!)}-2`))
    tokens.push(isNew)
    socket.end(`HTTP/1.1 ${isNew ? 200 : 401} X\r\ncontent-length: 2\r\n\r\n{}`)
  })
  send(1)
  await sent!()
  expect([tokens, inspectorRequest()?.token]).toEqual([[false, true], 'secret-2'])
})

test('where a process may not ask whether the server runs, it says so', () => {
  publishInspector(project.folder, address(1))
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('Requires run access, run again with --allow-run'), { name: 'NotCapable' })
  })
  expect(joinInspector(project.folder, 'queue-start', note)).toBeUndefined()
  kill.mockRestore()
  expect(notes).toEqual([expect.stringMatching(/does not show this process.*--allow-run/)])
})
