import assert from 'node:assert/strict'
import { definePlugin, RouteCollection, Server } from 'framework'
import { Kernel, kernelOptions } from 'framework/kernel'
import { memoryLogger } from '../../support/kernel.ts'
import { watchProcess } from './process-state.ts'
import { type AnyServer, inTime, type Subject, scopeOf, seenAt } from './subject.ts'

/** One promise of a plugin. */
export interface PluginCheck {
  readonly name: string
  run(subject: Subject): Promise<void>
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** What a server does with options: the error of the registration or the boot. */
async function failureOf(subject: Subject, options: unknown): Promise<string | undefined> {
  try {
    const server = subject.serverOf([...subject.others(), subject.factory(options)])
    await server.ready()
    await server.close()
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function nested(path: string, value: unknown, valid: unknown): object {
  const [name = '', ...rest] = path.split('.')
  const inner = Object(valid)[name] as unknown
  return { ...Object(valid), [name]: rest.length === 0 ? value : nested(rest.join('.'), value, inner) }
}

const metadata: PluginCheck = {
  name: 'has a name that others can write, a version of semver if any, and checks its options, which listings show',
  async run(subject) {
    const { name, version, options } = subject.factory.plugin
    assert.match(name, /^[@\w][\w./-]*$/, `the name "${name}" is not one that others can write in dependencies`)
    if (version !== undefined)
      assert.match(version, /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/, `the version "${version}" is not one of semver: 1.2.3`)
    const given = await subject.options()
    if (given !== undefined)
      assert.ok(options !== undefined, `the definition has no "options", so no option of "${name}" is checked`)
    const server = await subject.server()
    await server.ready()
    const [node] = subject.nodesOf(server)
    assert.ok(node !== undefined, `the plugin "${name}" is not in the tree of plugins`)
    const missing = Object.keys(Object(given)).filter((option) => !node.options.includes(option))
    assert.deepEqual(missing, [], `the tree of plugins does not list the options ${missing.join(', ')}`)
  },
}

const options: PluginCheck = {
  name: 'refuses options that it does not have, and each wrong one by its name',
  async run(subject) {
    const valid = await subject.options()
    const unknown = 'optionThatDoesNotExist'
    if (subject.factory.plugin.options !== undefined) {
      const refusal = await failureOf(subject, { ...Object(valid), [unknown]: 1 })
      assert.ok(
        refusal !== undefined,
        `the unknown option "${unknown}" is accepted, so a misspelt one is silently ignored`,
      )
      assert.ok(
        refusal.includes(unknown),
        `the error about the unknown option "${unknown}" does not name it: ${refusal}`,
      )
    }
    for (const [path, values] of Object.entries(subject.test.wrongOptions ?? {})) {
      for (const [i, value] of values.entries()) {
        const refusal = await failureOf(subject, nested(path, value, valid))
        const which = `the wrong value ${i + 1} of the option "${path}"`
        assert.ok(refusal !== undefined, `${which} is accepted`)
        assert.ok(refusal.includes(path), `the error about ${which} does not name the option: ${refusal}`)
      }
    }
  },
}

const forms: PluginCheck = {
  name: 'works in an array, under a key, and with register',
  async run(subject) {
    const own = await Promise.all([1, 2, 3].map(() => subject.registration()))
    // Those that a server has anyway are put in place of its own.
    const isOn = new Server().plugins.children.some(({ name }) => name === subject.name)
    const key = isOn ? subject.name : 'pluginUnderTest'
    const others = Object.fromEntries((subject.test.with ?? []).map((one) => [one.plugin.name, one()]))
    const servers = {
      'plugins: [plugin()]': subject.serverOf([...subject.others(), own[0]!]),
      'plugins: { key: plugin() }': subject.serverOf({ ...others, [key]: own[1] } as {}),
      'server.register(plugin())': subject.serverOf({ ...others, ...(isOn && { [key]: false }) }).register(own[2]!),
    } as Record<string, AnyServer>
    for (const [form, server] of Object.entries(servers)) {
      await server.ready().catch((error) => assert.fail(`${form} does not boot: ${messageOf(error)}`))
      assert.equal(
        subject.nodesOf(server).length,
        1,
        `${form} registers the plugin ${subject.nodesOf(server).length} times`,
      )
      await subject.use(server)
      await server.close()
    }
  },
}

const kernel: PluginCheck = {
  name: 'boots on a kernel of framework/kernel, which has no other plugins',
  async run(subject) {
    const logger = memoryLogger()
    const given = { port: 0, host: '127.0.0.1', gracefulShutdown: false, logger, router: new RouteCollection() }
    const server = new Kernel(kernelOptions.parse(given))
    try {
      for (const one of [...subject.others(), await subject.registration()]) server.register(one)
      server.get('/of-the-test', () => 'the route of the test')
      await server.ready()
      const { status } = await server.inject({ method: 'GET', url: '/of-the-test' })
      assert.ok(status < 500, `a request has the status ${status}`)
    } catch (error) {
      assert.fail(`the plugin needs more than a kernel and its dependencies: ${messageOf(error)}`)
    } finally {
      await server.close().catch(() => {})
    }
  },
}

const dependencies: PluginCheck = {
  name: 'declares the plugins that it needs, so that their order does not matter',
  async run(subject) {
    const server = subject.serverOf([await subject.registration(), ...subject.others()])
    try {
      await server.ready()
      await subject.use(server)
    } catch (error) {
      const names = (subject.test.with ?? []).map(({ plugin }) => `'${plugin.name}'`).join(', ')
      assert.fail(
        `registered before what it needs, the plugin fails: ${messageOf(error)}. It needs dependencies: [${names}]`,
      )
    }
    await server.close()
  },
}

/** The same tree with the plugin in the scope `inner`, and without it. */
async function reaches(subject: Subject): Promise<void> {
  const others = subject.others()
  const trees = [[await subject.registration()], []].map((plugins) =>
    subject.serverOf([
      ...(plugins.length > 0 ? others : subject.others()),
      scopeOf('inner', plugins),
      scopeOf('sibling', []),
    ]),
  )
  const [server, plain] = trees as [AnyServer, AnyServer]
  await Promise.all([server.ready(), plain.ready()])
  for (const path of ['/sibling/route', '/of-the-test', '/sibling/nothing', '/nothing']) {
    const [seen, expected] = [await seenAt(server, path), await seenAt(plain, path)]
    assert.deepEqual(seen, expected, `the plugin reaches ${path}, which is outside of its scope /inner`)
  }
  const pathsOf = (one: AnyServer) => one.listing.routes.map(({ record }) => `${record.method} ${record.path}`)
  const known = new Set(pathsOf(plain))
  const strays = pathsOf(server).filter((route) => !known.has(route) && !route.includes(' /inner'))
  assert.deepEqual(strays, [], `the plugin has added routes outside of its scope /inner: ${strays.join(', ')}`)
  for (const name of subject.nodesOf(server).flatMap(({ services }) => services))
    assert.equal(
      server.services.find(name as never),
      undefined,
      `the service "${name}" is visible outside of its scope`,
    )
  await Promise.all([server.close(), plain.close()])
}

const encapsulation: PluginCheck = {
  name: 'in a scope, adds nothing to siblings or to the server',
  async run(subject) {
    if (!subject.test.isOfServer) return reaches(subject)
    const server = subject.serverOf([...subject.others(), scopeOf('inner', [await subject.registration()])])
    const refusal = await server.ready().then(() => undefined, messageOf)
    assert.ok(refusal?.includes(subject.name), `isOfServer is set, and the plugin boots in a scope: ${refusal}`)
  },
}

const prefix: PluginCheck = {
  name: 'with a prefix, has its routes under it',
  async run(subject) {
    if (subject.test.isOfServer) return
    const server = subject.serverOf([...subject.others(), await subject.registration({ prefix: '/under-a-prefix' })])
    const refusal = await server.ready().then(
      () => undefined,
      (error) => error as { code?: unknown },
    )
    // Without a route, there is nothing to put under a prefix, and the server says so.
    if (refusal?.code === 'PluginPrefixError') return
    assert.equal(refusal, undefined, `with a prefix, the plugin fails: ${messageOf(refusal)}`)
    const routes = subject.nodesOf(server).flatMap((node) => node.routes)
    const strays = routes.filter((route) => !/^\S+ \/under-a-prefix(?:\/|$)/.test(route))
    assert.deepEqual(strays, [], `these routes ignore the prefix of the registration: ${strays.join(', ')}`)
    await server.close()
  },
}

const besideItself: PluginCheck = {
  name: 'works twice on one server, in two scopes, each with services of its own',
  async run(subject) {
    if (subject.test.isOfServer) return
    const scopes = await Promise.all(['one', 'two'].map(async (name) => scopeOf(name, [await subject.registration()])))
    const server = subject.serverOf([...subject.others(), ...scopes])
    await server
      .ready()
      .catch((error) => assert.fail(`registered in two scopes, the plugin fails: ${messageOf(error)}`))
    const [one, two] = server.listing.plugins.filter(({ definition }) => definition.name === subject.name)
    assert.ok(one && two, `the tree has the plugin once`)
    for (const name of subject.nodesOf(server)[0]!.services) {
      const [first, second] = [one, two].map(({ scope }) => scope.services.find(name as never))
      if (Object(first) === first) assert.ok(first !== second, `both scopes have the same service "${name}"`)
    }
    await server.close()
  },
}

const twoServers: PluginCheck = {
  name: 'works on two servers of one process, also when the first has closed, and on a third after that',
  async run(subject) {
    const [first, second] = [await subject.server(), await subject.server()]
    const open = async (server: AnyServer, which: string) => {
      await server.listen().catch((error) => assert.fail(`the ${which} server does not start: ${messageOf(error)}`))
      await subject.use(server)
    }
    await open(first, 'first')
    await open(second, 'second')
    await first.close()
    const status = await second.inject({ method: 'GET', url: '/of-the-test' }).then((res) => res.status)
    assert.ok(status < 500, `after the first server has closed, the second responds with ${status}`)
    try {
      await subject.use(second)
    } catch (error) {
      assert.fail(`after the first server has closed, the plugin of the second does not work: ${messageOf(error)}`)
    }
    await second.close()
    const third = await subject.server()
    await open(third, 'third')
    await third.close()
  },
}

async function closes(server: AnyServer, when: string): Promise<void> {
  const closed = Promise.all([server.close(), server.close()]).catch((error) =>
    assert.fail(`closing ${when} fails: ${messageOf(error)}`),
  )
  await inTime(closed, 30_000, `closing ${when} does not end`)
  const complaint = server.log.find(({ level, message }) => level === 'error' || /clos/.test(message ?? ''))
  assert.equal(complaint?.message, undefined, `closing ${when} logs: ${complaint?.message}`)
}

const closing: PluginCheck = {
  name: 'closes twice, without an error and in time: listening, booted, never booted, and while it boots',
  async run(subject) {
    const listening = await subject.server()
    await listening.listen()
    await subject.use(listening)
    await closes(listening, 'a server that listens')
    const booted = await subject.server()
    await booted.ready()
    await closes(booted, 'a server that has booted')
    await closes(await subject.server(), 'a server that has never booted')
    const booting = await subject.server()
    const ready = booting.ready().catch(() => {})
    await closes(booting, 'a server that boots')
    await inTime(ready, 30_000, 'the boot does not end when the server is closed meanwhile')
  },
}

const draining: PluginCheck = {
  name: 'lets requests end that are in progress when the server closes',
  async run(subject) {
    const server = await subject.server()
    let [begin, end] = [() => {}, () => {}]
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const held = new Promise<void>((resolve) => (end = resolve))
    server.get('/in-progress', async () => {
      begin()
      await held
      await subject.use(server)
      return 'done'
    })
    await server.listen()
    const response = fetch(`${server.url}/in-progress`, { headers: { connection: 'close' } })
    await inTime(begun, 30_000, 'a request does not reach its handler')
    const ended = Promise.all([response, server.close()])
    // A failure before the end of the pause is the one that the test reports.
    ended.catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 50))
    end()
    const [{ status }] = await ended
    const reason = server.log.find(({ fields }) => fields.err instanceof Error)?.fields.err
    assert.equal(
      status,
      200,
      `a request in progress ends with ${status} ${reason === undefined ? '' : messageOf(reason)}`,
    )
  },
}

async function leavesNothing(subject: Subject, nothing: (when: string) => Promise<void>): Promise<void> {
  const made = await subject.server()
  await nothing('before the boot')
  await made.close()
  await nothing('after closing a server that has not booted')
  const complete = await subject.server()
  await complete.listen()
  await subject.use(complete)
  await complete.close()
  await nothing('after closing')
  for (const turns of [0, 1, 2, 4, 8]) {
    const interrupted = await subject.server()
    const boot = interrupted.ready().catch(() => {})
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    await interrupted.close()
    await boot
    await nothing('after closing while it boots')
  }
  const failing = definePlugin({ name: 'fails-after-it', setup: () => Promise.reject(new Error('on purpose')) })
  const failed = subject.serverOf([...subject.others(), await subject.registration(), failing()])
  await assert.rejects(failed.ready(), /on purpose/)
  await failed.close().catch(() => {})
  await nothing('after a boot that another plugin has failed')
}

const leaving: PluginCheck = {
  name: 'opens nothing before the boot, and leaves nothing after closing: complete, failed or interrupted',
  async run(subject) {
    const watch = watchProcess()
    try {
      await leavesNothing(subject, async (when) => {
        const added = await watch.added()
        assert.deepEqual(added, [], `${when} there is still: ${added.join(', ')}`)
      })
    } finally {
      watch.stop()
    }
  },
}

/** What a plugin promises. What it leaves comes first: what an earlier check has left would be there before. */
export const pluginChecks: readonly PluginCheck[] = [
  ...[leaving, metadata, options, forms, kernel, dependencies],
  ...[encapsulation, prefix, besideItself],
  ...[twoServers, closing, draining],
]
