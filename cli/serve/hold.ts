import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Kernel as AnyKernel } from '../../kernel/index.ts'
import { pagesOf } from '../../plugins/shared/development/pages.ts'
import { deferred } from '../../plugins/shared/values/promises.ts'
import { packageName } from '../package.ts'
import type { News } from './protocol.ts'

type KernelClass = { readonly prototype: AnyKernel }

/**
 * Makes every `listen()` in this process boot its server, report that, and wait until `open` is called: until then, the port belongs to
 * the previous version, and so do jobs and queue workers. A callback runs after `shown`, so that what it prints follows the addresses.
 */
export async function holdListening(send: (news: News) => void, shown: Promise<unknown>) {
  const opened = deferred<unknown>()
  const { kernels, isComplete } = await load()
  for (const { prototype } of kernels) {
    const { listen } = prototype
    prototype.listen = async function heldListen(this: AnyKernel, callback) {
      try {
        await this.ready()
        // No load balancer has to notice the end of a version, and the developer is waiting for it.
        const { closeTimeout } = this.settings
        Object.assign(this.settings, { drainWindow: 0, closeTimeout: Math.min(closeTimeout, 1000) })
        send({ framework: 'booted' })
        // A process that only waits for an order is not kept alive by anything else.
        const alive = setInterval(() => {}, 1 << 30)
        await opened.promise.finally(() => clearInterval(alive))
        const listening: typeof callback = async (address) => {
          const { url, plugins } = this
          send({ framework: 'listening', url, port: address.port, plugins, pages: pagesOf(this) })
          await shown
          await callback?.(address)
        }
        // It refuses what is not a callback.
        return await listen.call(this, typeof (callback ?? listening) === 'function' ? listening : callback)
      } catch (error) {
        if (!this.isListening)
          send({ framework: 'failed', message: error instanceof Error ? error.message : String(error) })
        throw error
      }
    }
  }
  return {
    /** Lets all calls of `listen()` continue, including later ones. */
    open: opened.resolve,
    /** Whether the framework of the application could be loaded. */
    isComplete,
  }
}

/** Loads the framework: the class that the application uses, and the one of this package if that is a different copy. */
async function load(): Promise<{ readonly kernels: ReadonlySet<KernelClass>; readonly isComplete: boolean }> {
  const kernels = new Set<KernelClass>([(await import('../../kernel/kernel.ts')).Kernel])
  const own = createRequire(resolve(process.argv[1] ?? 'index.js'))
  const importEntryPoint = (entryPoint: string) => import(pathToFileURL(own.resolve(entryPoint)).href)
  try {
    kernels.add(((await importEntryPoint(`${packageName}/kernel`)) as { Kernel: KernelClass }).Kernel)
    // The modules that the application will import. Before the hooks are registered, they do not pass through them: on Node.js 20
    // a start takes 0.48 s of processor time instead of 0.72.
    await importEntryPoint(packageName)
    return { kernels, isComplete: true }
  } catch {
    // The package is being installed; or this is Deno, which may have packages elsewhere.
    return { kernels, isComplete: false }
  }
}
