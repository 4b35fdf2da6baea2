import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Kernel as AnyKernel } from '../../kernel/index.ts'
import { pagesOf } from '../../plugins/toolkit/pages.ts'
import { packageName } from '../package.ts'
import type { News } from './protocol.ts'

type KernelClass = { readonly prototype: AnyKernel }

/** What `holdListening` has prepared. */
export interface Held {
  /** Lets them go on, those that come later too. */
  open(): void
  /** Whether the framework of the application could be loaded. */
  readonly isComplete: boolean
}

/**
 * Makes every `listen()` of this process boot its server, say so, and wait until `open` is called: the port belongs to the
 * version before until then, and so do its jobs and its queue workers.
 */
export async function holdListening(tell: (news: News) => void): Promise<Held> {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const { kernels, isComplete } = await load()
  for (const { prototype } of kernels) {
    const { listen } = prototype
    prototype.listen = async function heldListen(this: AnyKernel, callback) {
      try {
        await this.ready()
        // No load balancer has to learn of the end of a version, and who waits for it sits in front of the screen.
        const { closeTimeout } = this.settings
        Object.assign(this.settings, {
          drainWindow: 0,
          closeTimeout: Math.min(closeTimeout, 1000),
        })
        tell({ framework: 'booted' })
        // Nothing else keeps a process alive that only waits for a word.
        const alive = setInterval(() => {}, 1 << 30)
        await opened.finally(() => clearInterval(alive))
        const address = await listen.call(this, callback)
        const { url, plugins } = this
        tell({ framework: 'listening', url, port: address.port, plugins, pages: pagesOf(this) })
        return address
      } catch (error) {
        if (!this.isListening)
          tell({ framework: 'failed', message: error instanceof Error ? error.message : String(error) })
        throw error
      }
    }
  }
  return { open, isComplete }
}

/** Loads the framework: the class that the application uses, and the one of this package where that is another copy. */
async function load(): Promise<{ readonly kernels: ReadonlySet<KernelClass>; readonly isComplete: boolean }> {
  const kernels = new Set<KernelClass>([(await import('../../kernel/kernel.ts')).Kernel])
  const own = createRequire(resolve(process.argv[1] ?? 'index.js'))
  const importDoor = (door: string) => import(pathToFileURL(own.resolve(door)).href)
  try {
    kernels.add(((await importDoor(`${packageName}/kernel`)) as { Kernel: KernelClass }).Kernel)
    // What the application is about to import. Before the hooks are there, it does not have to pass them: on Node.js 20
    // a start takes 0.48 s of processor time in place of 0.72.
    await importDoor(packageName)
    return { kernels, isComplete: true }
  } catch {
    // Being installed just now; or Deno, which may have packages elsewhere.
    return { kernels, isComplete: false }
  }
}
