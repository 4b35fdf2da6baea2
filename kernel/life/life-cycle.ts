import type { HostServer } from '../http/request/request.ts'
import type { Dispatcher } from '../pipeline/dispatch.ts'
import type { ContextHost } from '../plugin/context.ts'
import type { Hook, PluginEntry } from '../plugin/scope.ts'
import type { Adapter, Address } from '../runtime/adapter.ts'
import { defineErrors, type FrameworkError, ServerClosingError } from '../support/errors.ts'
import type { LifeState } from '../support/life-state.ts'
import { warnInto } from '../support/logger.ts'
import { detectRuntime } from '../support/runtime-name.ts'
import type { SupervisedServer } from '../support/worker.ts'
import { bootTree, ownAll } from './boot.ts'
import { shutDown } from './shutdown.ts'

const { ListeningTwiceError, ServerClosedError } = defineErrors({
  ListeningTwiceError: () =>
    'listen() was already called on this server. A server listens once; create another one for another port',
  ServerClosedError: [503, () => 'the server is closed. Create a new one'],
})

/** Called with each server that has booted. */
export type BootCheck = (server: HostServer) => void

const bootChecks = new Set<BootCheck>()

/**
 * Runs a check on every server of this process when it has booted, even on one without the plugin that adds the check: for
 * declarations in modules that only a server with that plugin runs.
 *
 * @example
 * atEachBoot((server) => server.logger.info('booted'))
 */
export function atEachBoot(check: BootCheck): void {
  bootChecks.add(check)
}

let announce: () => void

/**
 * Resolves when this process has its first server, booted or not, or is about to have one: declarations that would run by themselves
 * then wait for it.
 *
 * @example
 * serverExpected.then(() => console.log('a server runs the jobs'))
 */
export const serverExpected = new Promise<void>((resolve) => {
  announce = resolve
})

/**
 * Announces a server before it is created, for tools such as a test kit.
 *
 * @example
 * expectServer()
 */
export const expectServer = (): void => announce()

/** Boot, listen and close of one server, each once and in this order. */
export class LifeCycle {
  readonly #state: LifeState
  readonly #root: PluginEntry
  readonly #host: ContextHost
  readonly #dispatcher: Dispatcher
  /** The boot, once it has begun. */
  boot: Promise<void> | undefined
  #adapter: Adapter | undefined
  readonly closing = new AbortController()
  #close: Promise<void> | undefined
  #stopWatching: (() => void) | undefined
  #supervised: SupervisedServer | undefined
  /** Ends the wait for ready hooks. */
  #leaveReadyHooks: (() => void) | undefined

  constructor(state: LifeState, root: PluginEntry, host: ContextHost, dispatcher: Dispatcher) {
    announce()
    this.#state = state
    this.#root = root
    this.#host = host
    this.#dispatcher = dispatcher
    this.#followAbortSignal(host.server.settings.abortSignal)
  }

  get abandonedWork(): boolean {
    return this.#state.abandoned
  }

  report(error: unknown, what = error instanceof Error ? error.message : 'closing failed'): void {
    this.#host.server.safeLogger.error({ err: error }, what)
  }

  mustBeOpen(): void {
    if (this.#state.closed) throw ServerClosedError()
  }

  async ready(): Promise<void> {
    if (this.boot === undefined) this.mustBeOpen()
    this.boot ??= this.#bootOnce()
    return this.boot
  }

  async #bootOnce(): Promise<void> {
    const start = performance.now()
    try {
      await bootTree(this.#root, this.#host)
      this.#host.routes.compile(this.#host.server.safeLogger)
      this.#dispatcher.compile()
      this.#state.booted = true
      // A ready hook that closes the server would otherwise wait for itself.
      const left = new Promise<void>((_resolve, reject) => {
        this.#leaveReadyHooks = () => reject(ServerClosedError())
      })
      const hooks = this.#runHooks(this.#host.lifeCycle.onReady, 'ready', (run) => run())
      hooks.catch((error: FrameworkError) => {
        if (this.#state.closing && error.code !== ServerClosedError.code) this.report(error)
      })
      await Promise.race([hooks, left])
      for (const check of bootChecks) check(this.#host.server)
    } catch (error) {
      this.#state.booted = true
      for (const failure of await this.#shutDown()) this.report(failure)
      throw error
    } finally {
      this.#root.times.boot = performance.now() - start
    }
  }

  async #runHooks<Name extends 'onReady' | 'onListen' | 'onLead'>(
    hooks: readonly Hook<Name>[],
    phase: string,
    call: (run: Hook<Name>['run']) => unknown,
  ): Promise<void> {
    for (const { run, entry } of hooks) {
      if (this.#state.closing) throw ServerClosedError()
      const start = performance.now()
      try {
        await entry.trace(phase, () => call(run))
      } catch (error) {
        throw entry.failure(`a ${phase} hook`, error)
      } finally {
        entry.times.ready += performance.now() - start
      }
    }
  }

  async listen(): Promise<Address> {
    this.mustBeOpen()
    if (this.#state.listenCalled) throw ListeningTwiceError()
    this.#state.listenCalled = true
    this.#supervised = this.#host.server.settings.workers.starting()
    try {
      await this.ready()
      const address = await this.#open()
      this.#supervised?.listens()
      return address
    } catch (error) {
      this.#supervised?.failed()
      throw error
    }
  }

  async #open(): Promise<Address> {
    try {
      const address = await this.#bind()
      const { gracefulShutdown, workers } = this.#host.server.settings
      if (gracefulShutdown) this.#stopWatching = workers.closeOnSignals(this)
      await this.#runHooks(this.#host.lifeCycle.onListen, 'listen', (run) => run(address))
      await workers.lead({
        hooks: this.#host.lifeCycle.onLead.map((hook) => () => this.#runHooks([hook], 'lead', (run) => run())),
        isClosing: () => this.#state.closing,
        report: (error) => this.report(error),
      })
      this.#state.started = true
      return address
    } catch (error) {
      // A server listens once, so the resources that boot opened are useless and would keep the process alive.
      await this.close().catch((failure: unknown) => this.report(failure, 'closing after a failed start failed too'))
      throw error
    }
  }

  async #bind(): Promise<Address> {
    const { server } = this.#host
    const { port, host, limits, https, errorFormat: failures, adapter: name, workers } = server.settings
    const adapter = await loadAdapter(name)
    const onWarning = warnInto(server)
    const { upgrades } = this.#host
    const { share } = workers
    const options = { port, host, limits, https, failures, upgrades, onWarning, ...(share && { share }) }
    const address = await adapter.listen(options, this.#dispatcher.handle)
    // The server may have been closed while it was binding.
    if (this.#state.closing) {
      adapter.cut()
      await adapter.stop()
      throw ServerClosedError()
    }
    this.#adapter = adapter
    this.#state.address = address
    return address
  }

  close(): Promise<void> {
    this.#state.closing = true
    this.#leaveReadyHooks?.()
    this.#close ??= this.#closeOnce()
    return this.#close
  }

  async #closeOnce(): Promise<void> {
    // A boot in progress is awaited first; one that has failed has closed everything itself.
    const isLeft = await (this.boot ?? Promise.resolve()).then(
      () => true,
      () => false,
    )
    const errors = isLeft ? await this.#shutDown() : []
    this.#state.closed = true
    for (const end of this.#state.streams) end(ServerClosedError())
    await this.#supervised?.closed()
    this.#stopWatching?.()
    if (errors.length === 1) throw errors[0]
    if (errors.length > 1) {
      const all = errors.map((one) => one.message).join(' · ')
      throw new AggregateError(errors, `closing failed in ${errors.length} places: ${all}`)
    }
  }

  #followAbortSignal(signal: AbortSignal | undefined): void {
    const abort = () => void this.close().catch((error: unknown) => this.report(error, 'closing on abort failed'))
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  }

  #shutDown(): Promise<Error[]> {
    ownAll(this.#root, this.#host)
    return shutDown(this.#host, {
      state: this.#state,
      adapter: this.#adapter,
      startDraining: () => this.closing.abort(ServerClosingError()),
      idle: () => this.#dispatcher.idle(),
    })
  }
}

/** Loads the adapter for a runtime; if none is named, for the current one. `'node'` runs everywhere. */
async function loadAdapter(name: HostServer['settings']['adapter'] = detectRuntime()): Promise<Adapter> {
  if (typeof name === 'object') return name
  if (name === 'bun') return new (await import('../runtime/bun.ts')).BunAdapter()
  if (name === 'deno') return new (await import('../runtime/deno.ts')).DenoAdapter()
  return new (await import('../runtime/node/node.ts')).NodeAdapter()
}
