import type { Equal, Expect, NotAny } from './expect.ts'

export type Same = [
  Expect<Equal<string, string>>,
  Expect<Equal<{ a: 1; b?: 2 }, { a: 1; b?: 2 }>>,
  Expect<Equal<any, any>>,
  Expect<NotAny<unknown>>,
  Expect<NotAny<never>>,
]

export type Different = [
  // @ts-expect-error
  Expect<Equal<string, number>>,
  // @ts-expect-error
  Expect<Equal<string, any>>,
  // @ts-expect-error
  Expect<Equal<unknown, any>>,
  // @ts-expect-error
  Expect<Equal<{ a: 1 }, { a?: 1 }>>,
  // @ts-expect-error
  Expect<Equal<{ a: 1 }, { readonly a: 1 }>>,
  // @ts-expect-error
  Expect<NotAny<any>>,
]
