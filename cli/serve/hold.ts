import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Kernel as AnyKernel } from '../../kernel/index.ts'
import type { News } from './protocol.ts'

type KernelClass = { readonly prototype: AnyKernel }

/**
 * Makes every `listen()` of this process boot its server, say so, and wait. What is returned lets them go on, those that
 * come later too: the port belongs to the version before until then, and so do its jobs and its queue workers.
 */
export async function holdListening(tell: (news: News) => void): Promise<() => void> {
  let go = () => {}
  const gone = new Promise<void>((resolve) => {
    go = resolve
  })
  for (const { prototype } of await kernels()) {
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
        await gone.finally(() => clearInterval(alive))
        const address = await listen.call(this, callback)
        tell({ framework: 'listening', url: this.url, port: address.port, plugins: this.plugins })
        return address
      } catch (error) {
        if (!this.isListening)
          tell({ framework: 'failed', message: error instanceof Error ? error.message : String(error) })
        throw error
      }
    }
  }
  return go
}

/** The class that the application uses, and the one of this package where that is another copy. */
async function kernels(): Promise<ReadonlySet<KernelClass>> {
  const found = new Set<KernelClass>([(await import('../../kernel/kernel.ts')).Kernel])
  const own = createRequire(resolve(process.argv[1] ?? 'index.js'))
  const load = (door: string) => import(pathToFileURL(own.resolve(door)).href)
  try {
    found.add(((await load('framework/kernel')) as { Kernel: KernelClass }).Kernel)
    // What the application is about to import. Before the hooks are there, it does not have to pass them: on Node.js 20
    // a start takes 0.48 s of processor time in place of 0.72.
    await load('framework')
  } catch {
    // Not in a folder that Node.js would look in: Deno has packages elsewhere.
  }
  return found
}
