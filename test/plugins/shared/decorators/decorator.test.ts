import { type AnyClass, type ClassMark, decoratedClasses, decorator, Notes } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { protocols, suiteOf } from '../../../support/protocols.ts'

for (const protocol of protocols) describe(protocol, await suiteOf('decorator-notes', protocol))

const words = new Notes<string>()
const say = (word: string) =>
  decorator({ name: 'say', class: (on) => words.add(on, word), method: (on) => words.add(on, word) })

/** What a compiler of the standard protocol does that has no initializers. */
function define(cls: AnyClass, decorators: readonly ClassMark[], metadata = {}): void {
  const all = decorators.toReversed() as unknown as ((value: Function, context: object) => void)[]
  for (const one of all) one(cls, { kind: 'class', name: cls.name, metadata })
}

test('a compiler that passes no metadata is refused: a policy on a method would be lost', () => {
  class Users {
    list() {}
  }
  const refusal = /no metadata object to the decorators on list: use one that does \(TypeScript 5\.2 or later/
  const onMethod = say('policy') as unknown as (value: Function, context: object) => void
  expect(() => onMethod(Users.prototype.list, { kind: 'method', name: 'list', static: false })).toThrow(refusal)
})

test('where no compiler says which decorator is the last, work for the class is done anew after each', () => {
  const happened: string[] = []
  const seen = (cls: AnyClass) => decoratedClasses(cls).flatMap((one) => words.of(one))
  const listed = decorator({
    name: 'listed',
    class: (on) =>
      on.whenDefined(
        (cls) => happened.push(`done with ${seen(cls).join()}`),
        () => happened.push('undone'),
      ),
  })
  class Users {}
  const metadata = {}
  define(Users, [say('above'), listed, say('below')], metadata)
  expect(happened).toEqual(['done with below', 'undone', 'done with above,below'])

  const refuse = decorator({
    name: 'refuse',
    class() {
      throw new Error('refused')
    },
  })
  happened.length = 0
  expect(() => define(Users, [refuse], metadata)).toThrow('refused')
  expect(happened).toEqual(['undone'])
})

describe('the arguments of a decorator', () => {
  const loose = say('x') as unknown as (...args: unknown[]) => void
  class Users {
    list() {}
  }
  test.each([
    [
      'a private method',
      [() => {}, { kind: 'method', name: '#list', private: true }],
      /on #list: it is a private method;/,
    ],
    ['an auto-accessor', [{}, { kind: 'accessor', name: 'a' }], /on a: it is an accessor;/],
    ['a parameter of a method', [Users.prototype, 'list', 0], /on Users\.list: it is a parameter \(number 0\)/],
    ['a parameter of the constructor', [Users, undefined, 1], /on Users\.constructor: it is a parameter \(number 1\)/],
    ['a static member', [Users, 'x', {}], /on Users\.x: it is a static member/],
    ['nothing', [], /it is not a member of a class/],
  ])('%s', (_what, args, message) => {
    expect(() => loose(...args)).toThrow(message)
  })
})
