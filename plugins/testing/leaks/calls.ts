import { ChildProcess } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { Worker } from 'node:worker_threads'
import { systemClock } from '../../../kernel/index.ts'
import type { LeakKind } from './leak.ts'
import { followOwners, Maker } from './maker.ts'
import type { Resource, Watched } from './resources.ts'

type Call = (this: EventEmitter, ...args: unknown[]) => unknown

/** Watches by replacing the functions that make a resource: Bun and Deno have no hooks for most of them. */
export function watchCalls(): Watched {
  const owners = followOwners()
  const all = new Map<unknown, Resource>()
  const undo: (() => unknown)[] = [() => owners.stop()]
  const made = (kind: LeakKind, object: unknown) => {
    const { hasRef } = Object(object) as { hasRef?(): boolean }
    const stays = () => kind !== 'timer' || hasRef?.call(object) !== false
    all.set(object, { kind, maker: new Maker(owners.current()), stays })
  }
  const replace = (target: object, name: PropertyKey, by: (original: Call) => Call) => {
    const original = Reflect.get(target, name) as Call
    Reflect.set(target, name, by(original))
    undo.push(() => Reflect.set(target, name, original))
  }
  const follow = ({ prototype }: { prototype: object }, name: string, kind: LeakKind, end: string) =>
    replace(
      prototype,
      name,
      (original) =>
        function (...args) {
          if (all.has(this)) return original.apply(this, args)
          made(kind, this)
          this.once(end, () => all.delete(this))
          return original.apply(this, args)
        },
    )
  follow(net.Server, 'listen', 'server', 'close')
  follow(http.Server, 'listen', 'server', 'close')
  follow(net.Socket, 'connect', 'socket', 'close')
  follow(ChildProcess, 'spawn', 'child process', 'exit')
  // Bun calls it within the constructor, and Deno once the worker runs: there, the line is not known, but whose it is.
  follow(Worker, 'emit', 'worker', 'exit')
  const { Bun, Deno } = globalThis as { readonly Bun?: object; readonly Deno?: object }
  for (const target of [Bun ?? {}, Deno ?? {}])
    for (const name of ['serve', 'listen', 'listenTls'].filter((one) => one in target))
      replace(target, name, (original) => (...args) => {
        const server = Reflect.apply(original, target, args) as { readonly finished?: Promise<void> }
        // On Bun, the modules of Node.js call these functions, and are watched above.
        if (new Error('called here').stack?.split('\n')[2]?.includes('(node:')) return server
        made('server', server)
        void server.finished?.then(() => all.delete(server))
        for (const end of ['stop', 'close', Symbol.dispose].filter((one) => one in server))
          replace(server, end, (original) => (...given) => {
            all.delete(server)
            return Reflect.apply(original, server, given)
          })
        return server
      })
  for (const target of [globalThis, systemClock]) {
    const timers = (name: string, kind: LeakKind) =>
      replace(target, name, (original) => (run, ...more) => {
        const work: Call = function (...args) {
          if (kind === 'timer') all.delete(timer)
          return (run as Call).apply(this, args)
        }
        const timer = Reflect.apply(original, target, [work, ...more])
        made(kind, timer)
        return timer
      })
    timers('setTimeout', 'timer')
    timers('setInterval', 'interval')
    for (const name of ['clearTimeout', 'clearInterval', 'clear'].filter((one) => one in target))
      replace(target, name, (original) => (timer) => {
        all.delete(timer)
        return Reflect.apply(original, target, [timer])
      })
  }
  return { alive: () => all.values(), stop: () => undo.forEach((one) => void one()) }
}
