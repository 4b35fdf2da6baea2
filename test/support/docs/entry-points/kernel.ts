import { Kernel as RealKernel, type ResolvedKernelOptions } from '../../../../plugins/authors.ts'
import { observe } from './observed.ts'

export * from '../../../../plugins/authors.ts'

/** The kernel of blocks: observed, and on a free port of the loopback whatever the port of the page is. */
export class Kernel extends RealKernel {
  constructor(settings: ResolvedKernelOptions) {
    super({ ...settings, port: 0, host: '127.0.0.1' })
    observe(this)
  }
}
