import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import module from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { framework as inOneProcess } from '../support/cli/fresh.ts'
import { application, makeApplication, ownCache, projects, removeProjects, workersOf } from '../support/cli/workers.ts'
import { framework, makeProject, type Project } from '../support/cli.ts'
import { pause } from '../support/kernel.ts'
import { freePort } from '../support/own-server.ts'
import { isAlive, startWorkers, until } from '../support/serve.ts'

// serve-runtimes.test.ts and start-runtimes.long.test.ts have Bun and Deno.
afterAll(removeProjects)

/** Sends a request after the other, on kept and on new connections; `stop` returns the failures. */
function load(port: number, clients: number) {
  const failures: string[] = []
  let answered = 0
  let isOver = false
  const ask = (path: string, agent: Agent) =>
    new Promise<void>((resolve) => {
      const fail = (why: string) => {
        failures.push(why)
        resolve()
      }
      get({ host: '127.0.0.1', port, path, agent }, (answer) => {
        answer.resume().once('end', () => {
          answered++
          if (answer.statusCode === 200) resolve()
          else fail(`status ${answer.statusCode}`)
        })
      }).once('error', (error) => fail(error.message))
    })
  const agents = [true, false].flatMap((keepAlive) =>
    Array.from({ length: clients }, () => new Agent({ keepAlive, maxSockets: 1 })),
  )
  const running = agents.map(async (agent, index) => {
    while (!isOver) {
      await ask(index % 4 === 0 ? '/slow' : '/', agent)
      // As many requests as possible would take the processor time that the workers need to start.
      await pause(10)
    }
    agent.destroy()
  })
  return async () => {
    isOver = true
    await Promise.all(running)
    return { failures, answered }
  }
}

test.concurrent('on Node.js: a worker that ends is replaced, and a rolling restart loses no request', async () => {
  const project = makeApplication()
  const serving = await startWorkers(project, ['--workers', '2', '--stuck-after', '10'], { env: ownCache })
  try {
    await serving.says('2 workers listen')
    // What the first worker has compiled, from Node.js 22.10 on.
    expect(existsSync(join(project.folder, 'node_modules/.cache/framework'))).toBe('flushCompileCache' in module)
    const [first, second] = await workersOf(serving, 2)
    expect([first, second]).toMatchObject([
      { number: 1, of: 2, leads: true },
      { number: 2, of: 2, leads: false },
    ])
    // Whichever worker is asked, the page is about the one that runs the jobs.
    const page = `http://127.0.0.1:${serving.port}/crons`
    const headers = { 'sec-fetch-site': 'same-origin', connection: 'close' }
    for (const turn of [1, 2]) {
      await fetch(`${page}?run=nightly`, { method: 'POST', headers, redirect: 'manual' })
      await until(`run ${turn} on the page`, async () => {
        const texts = await Promise.all([1, 2].map(async () => (await fetch(page, { headers })).text()))
        return texts.every((text) => text.split(`ran in ${first!.pid}`).length === turn + 1)
      })
    }
    // The second one leads as soon as the first has ended.
    process.kill(first!.pid, 'SIGKILL')
    await serving.says(`worker 1 (${first!.pid}) ended with SIGKILL`)
    await until('another one that leads', async () => (await workersOf(serving, 2))[1]!.leads)
    const [again] = await workersOf(serving, 2)
    expect([again!.leads, again!.pid === first!.pid]).toEqual([false, false])
    const loop = serving.get('/loop')
    await serving.says('in the loop')
    // One of them is handed to the worker in the loop.
    const url = `http://127.0.0.1:${serving.port}/`
    const during = [1, 2, 3].map(() => fetch(url, { headers: { connection: 'close' } }))
    await serving.says('has been unresponsive for 10 s and is killed')
    await loop
    expect((await Promise.allSettled(during)).filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    const before = await workersOf(serving, 2)
    // Under load, a version that does not boot leaves those that work, and one that does takes their place.
    const stop = load(serving.port, 6)
    project.write({ broken: '' })
    serving.child.kill('SIGHUP')
    await serving.says('this version does not boot')
    await serving.says('the rolling restart stops at worker 1')
    expect((await workersOf(serving, 2)).map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid))
    rmSync(join(project.folder, 'broken'))
    serving.child.kill('SIGHUP')
    await serving.says('2 workers were replaced')
    const { failures, answered } = await stop()
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(100)
    const after = await workersOf(serving, 2)
    expect(after.filter(({ pid }) => before.some((one) => one.pid === pid))).toEqual([])
    expect(after.map(({ leads }) => leads).sort()).toEqual([false, true])
    // A worker that begins to start when the others end does not keep the command; requests in progress get their responses.
    const last = serving.get('/last')
    await serving.says('the last request, for')
    const asked = Number(/the last request, for (\d+)/.exec(serving.output())![1])
    project.write({ slow: '' })
    const { pid: idle } = after.find(({ pid }) => pid !== asked)!
    process.kill(idle, 'SIGKILL')
    await serving.says(`(${idle}) ended with SIGKILL`)
    await serving.says('a worker is being loaded')
    expect(await serving.end('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(await last).toMatchObject({ of: 2 })
    expect(after.some(({ pid }) => isAlive(pid))).toBe(false)
  } finally {
    await serving.end('SIGKILL')
  }
})

test.concurrent('the first worker that does not start ends the command, with its error, unless the application handles that', async () => {
  const taken = createServer().listen(await freePort(), '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { readonly port: number }
  const project = makeApplication()
  const inUse = await framework(project.folder, ['start', '--workers', '2'], { PORT: String(port) })
  // One that handles the failure goes on with its other server.
  const listen = `await new Server({ port: ${port}, host: '127.0.0.1' }).listen().catch(() => console.log('no other'))
await server.listen()`
  const handling = makeApplication({ 'dist/index.js': application.replace('await server.listen()', listen) })
  const serving = await startWorkers(handling)
  await serving.says('no other')
  await serving.says('1 worker listens')
  expect(await workersOf(serving, 1)).toMatchObject([{ number: 1 }])
  expect((await serving.end('SIGTERM')).code).toBe(0)
  // One that goes on without any server is killed.
  const alone = `await new Server({ port: ${port}, host: '127.0.0.1' }).listen().catch(() => setInterval(() => {}, 1000))`
  const useless = makeApplication({ 'dist/index.js': application.replace('await server.listen()', alone) })
  const killed = await framework(useless.folder, ['start'], { PORT: String(port) })
  expect([killed.code, killed.stderr]).toEqual([
    1,
    expect.stringContaining('worker 1 goes on without a server and is killed'),
  ])
  taken.close()
  expect(inUse.code).toBe(1)
  expect(inUse.stderr).toContain(`127.0.0.1:${port} is in use by another process`)
  // On a busy machine it is killed before it has ended by itself.
  expect(inUse.stderr).toMatch(/worker 1 (ended with exit code 1 before it listened|goes on without a server)/)
  // Shown once, and not by each worker.
  expect(inUse.stderr.split('is in use by another process')).toHaveLength(2)
})

test.concurrent('a connection that is handed to a worker when that has closed goes to another one', async () => {
  const serving = await startWorkers(makeApplication(), ['-w', '2'])
  try {
    await serving.says('2 workers listen')
    const [first, second] = await workersOf(serving, 2)
    // It accepts them when the worker has closed, before it reads that it has.
    process.kill(serving.child.pid!, 'SIGSTOP')
    const waiting = [1, 2, 3, 4].map(() => serving.get())
    await pause(50)
    process.kill(first!.pid, 'SIGTERM')
    await serving.says(`closed ${first!.pid}`)
    await pause(200)
    // The one that comes back to the supervisor waits there when the worker has ended.
    process.kill(second!.pid, 'SIGSTOP')
    process.kill(serving.child.pid!, 'SIGCONT')
    await serving.says(`worker 1 (${first!.pid}) ended with exit code 0`)
    process.kill(second!.pid, 'SIGCONT')
    const responses = (await Promise.all(waiting)) as { readonly pid: number }[]
    expect(responses).toHaveLength(4)
    expect(responses.map(({ pid }) => pid)).toContain(second!.pid)
    expect(responses.map(({ pid }) => pid)).not.toContain(first!.pid)
  } finally {
    await serving.end('SIGKILL')
  }
})

test.concurrent('a connection that the last worker gives back is closed', async () => {
  const serving = await startWorkers(makeApplication(), ['-w', '1'])
  try {
    await serving.says('1 worker listens')
    const [{ pid } = { pid: 0 }] = await workersOf(serving, 1)
    process.kill(serving.child.pid!, 'SIGSTOP')
    const waiting = [1, 2].map(() => serving.get())
    await pause(50)
    process.kill(pid, 'SIGTERM')
    await serving.says(`closed ${pid}`)
    process.kill(serving.child.pid!, 'SIGCONT')
    // Without that, the clients would wait for ever.
    await Promise.all(waiting)
  } finally {
    await serving.end('SIGKILL')
  }
})

test.concurrent('a worker that has closed does not wait for a supervisor that is gone', async () => {
  const project = makeApplication()
  const serving = await startWorkers(project, ['-w', '1'])
  try {
    await serving.says('1 worker listens')
    const pid = (await workersOf(serving, 1))[0]!.pid
    process.kill(serving.child.pid!, 'SIGSTOP')
    process.kill(pid, 'SIGTERM')
    await serving.says(`closed ${pid}`)
    await serving.end('SIGKILL')
    // Its thread would kill it two seconds later.
    const exits = join(project.folder, 'exits.log')
    await until('the exit of the worker', () => existsSync(exits) && readFileSync(exits, 'utf8').endsWith('\n'))
    expect(readFileSync(exits, 'utf8')).toBe(`${pid} 0\n`)
  } finally {
    await serving.end('SIGKILL')
  }
})

test.concurrent('workers of a supervisor that was killed end, also in an endless loop', async () => {
  const serving = await startWorkers(makeApplication(), ['-w', '2'])
  try {
    await serving.says('2 workers listen')
    const workers = await workersOf(serving, 2)
    void serving.get('/loop')
    await serving.says('in the loop')
    await serving.end('SIGKILL')
    await until('the end of the workers', () => !workers.some(({ pid }) => isAlive(pid)))
  } finally {
    await serving.end('SIGKILL')
  }
})

test.concurrent('invalid arguments are reported', async () => {
  const project = makeApplication()
  const bare = makeProject({ 'src/index.ts': application })
  projects.push(bare)
  const cases: [Project, string[], number, string][] = [
    [project, ['--workers', '0'], 2, '--workers takes a whole number from 1 to 1024, or max, not "0"'],
    [project, ['--workers', '1.5'], 2, 'or max, not "1.5"'],
    [project, ['--stuck-after', '0.5'], 2, '--stuck-after takes a whole number from 0 to 86400, not 0.5'],
    [project, ['--runtime', 'rhino'], 2, '--runtime takes node, bun or deno'],
    [project, ['--entry', 'nowhere.js'], 1, 'the entry nowhere.js does not exist'],
    [bare, [], 1, 'src/index.ts is not built: "framework build" creates dist/index.js'],
  ]
  const outcomes = await Promise.all(
    cases.map(([where, args]) => inOneProcess(where.folder, ['start', ...args], { PORT: '0' })),
  )
  for (const [index, [, args, code, words]] of cases.entries()) {
    expect([outcomes[index]!.code, outcomes[index]!.stderr], args.join(' ')).toEqual([
      code,
      expect.stringContaining(words),
    ])
  }
})
