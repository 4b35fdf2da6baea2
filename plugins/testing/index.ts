import type { Inject } from '../../kernel/index.ts'

export interface MockMethods {
  get(path: string): Promise<unknown>
}
export function mockMethods(inject: Inject): MockMethods {
  return { get: (path) => inject({ url: path }) }
}
export class MockServer {
  readonly #inject: Inject
  constructor(inject: Inject) {
    this.#inject = inject
  }
  get(path: string): Promise<unknown> {
    return this.#inject({ url: path })
  }
}
