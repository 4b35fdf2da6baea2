import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Services } from '../services/servers.ts'

type Door = typeof import('../../index.ts')
type Table = typeof import('../../kernel/routing/table.ts')
type Collection = typeof import('../../kernel/routing/collection.ts')
type Compose = typeof import('../../kernel/pipeline/chain.ts')
type Responses = typeof import('../../plugins/responses/service.ts')
type Response = typeof import('../../kernel/http/response/response-buffer.ts')

interface InjectPeer {
  readonly name: string
  get(): Promise<string>
  post(): Promise<string>
}
type InjectPeers = {
  injectPeers(work: {
    hello: () => unknown
    receipt: (body: unknown) => unknown
    payload: string
  }): Promise<InjectPeer[]>
}

/**
 * Loads the modules of a stage's build. Never the sources: the loader that reads TypeScript wraps every named closure in
 * a call, and a chain of middlewares is made of closures.
 */
export class Built {
  /** The servers that run for this measurement. */
  readonly services: Services
  readonly #folder: string
  readonly #isWanted: (name: string) => boolean

  constructor(folder: string, isWanted: (name: string) => boolean, services: Services = {}) {
    this.services = services
    this.#folder = folder
    this.#isWanted = isWanted
  }

  /** Loads the first of several paths that exists: an older stage has its modules elsewhere. */
  #load<Module>(...paths: readonly string[]): Promise<Module> {
    const files = paths.map((path) => join(this.#folder, 'dist', path))
    const file = files.find((one) => existsSync(one)) ?? files[0]!
    return import(pathToFileURL(file).href) as Promise<Module>
  }

  door(): Promise<Door> {
    return this.#load('index.js')
  }
  table(): Promise<Table> {
    return this.#load('kernel/routing/table.js')
  }
  collection(): Promise<Collection> {
    return this.#load('kernel/routing/collection.js')
  }
  compose(): Promise<Compose> {
    return this.#load('kernel/pipeline/chain.js', 'kernel/http/compose.js')
  }
  response(): Promise<Response> {
    return this.#load('kernel/http/response/response-buffer.js', 'kernel/http/response-buffer.js')
  }
  responses(): Promise<Responses> {
    return this.#load('plugins/responses/service.js')
  }

  /** Returns the peers that were requested, or an empty list where they are not installed. */
  async injectPeers(work: Parameters<InjectPeers['injectPeers']>[0]): Promise<InjectPeer[]> {
    const folder = join(this.#folder, 'peers')
    if (!existsSync(join(folder, 'node_modules'))) return []
    const { injectPeers } = (await import(pathToFileURL(join(folder, 'inject.mjs')).href)) as InjectPeers
    return (await injectPeers(work)).filter(({ name }) => this.#isWanted(name))
  }
}
