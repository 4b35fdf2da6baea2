import type { TextStore } from '../../plugins/session/stores/contract.ts'

/** A store of texts as one of objects. */
export function objectsIn<Store extends TextStore>(store: Store) {
  type Found = Awaited<ReturnType<Store['get']>>
  const parsed = (text: string | undefined | null) => (text == null ? undefined : (JSON.parse(text) as object))
  return {
    get(id: string) {
      const found = store.get(id)
      return (found instanceof Promise ? found.then(parsed) : parsed(found as Found)) as
        | object
        | undefined
        | Promise<object | undefined>
    },
    set: (id: string, data: object, ttl: number) => store.set(id, JSON.stringify(data), ttl),
    update: (id: string, data: object, ttl: number) => store.update(id, JSON.stringify(data), ttl),
    destroy: (id: string) => store.destroy(id),
    touch: (id: string, ttl: number) => store.touch!(id, ttl),
  }
}
