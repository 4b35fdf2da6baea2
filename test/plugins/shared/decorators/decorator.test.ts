import {
  type AnyClass,
  type ClassMark,
  decoratedClasses,
  decoratedMethods,
  decorator,
  type MethodMark,
  Notes,
} from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { protocols, suiteOf } from '../../../support/protocols.ts'

for (const protocol of protocols) describe(protocol, await suiteOf('decorator-notes', protocol))

const words = new Notes<string>()
const say = (word: string) =>
  decorator({ name: 'say', class: (on) => words.add(on, word), method: (on) => words.add(on, word) })
const onMethods = (cls: AnyClass) =>
  Object.fromEntries(decoratedMethods(cls).map((method) => [String(method.name), words.of(method)]))

/** What a compiler of the standard protocol does that knows no metadata. */
function define(
  cls: AnyClass,
  on: { class?: ClassMark[]; methods?: Record<string, (MethodMark | ((fn: Function) => Function))[]> },
): void {
  const prototype = cls.prototype as Record<string, Function>
  for (const [name, decorators] of Object.entries(on.methods ?? {})) {
    for (const one of decorators.toReversed() as ((value: Function, context: object) => Function | undefined)[]) {
      prototype[name] =
        one(prototype[name]!, { kind: 'method', name, static: false, private: false }) ?? prototype[name]!
    }
  }
  for (const one of (on.class ?? []).toReversed()) one(cls, { kind: 'class', name: cls.name })
}
const wrap = (fn: Function) =>
  function wrapped(this: unknown, ...args: unknown[]): unknown {
    return fn.apply(this, args)
  }

describe('a compiler that gives no metadata', () => {
  test('methods are found by their functions, with and without a decorator of the class', () => {
    class Base {
      one() {}
    }
    define(Base, { methods: { one: [say('a'), say('b')] } })
    class Other {
      one() {}
    }
    define(Other, { class: [say('other')] })
    class Sub extends Base {
      two() {}
    }
    define(Sub, { class: [say('x'), say('y')], methods: { two: [say('c')] } })
    expect(onMethods(Base)).toEqual({ one: ['a', 'b'] })
    expect(onMethods(Other)).toEqual({})
    expect(onMethods(Sub)).toEqual({ one: ['a', 'b'], two: ['c'] })
    expect(decoratedClasses(Sub).map((one) => words.of(one))).toEqual([[], ['x', 'y']])
  })

  test('a note that another decorator has hidden is an error, not a lost policy', () => {
    class Users {
      list() {}
    }
    expect(() => define(Users, { class: [say('x')], methods: { list: [say('get'), wrap, say('policy')] } })).toThrow(
      /.* stands between those on list, so the framework cannot find the ones below it/,
    )
  })

  test('an override of an undecorated class does not count', () => {
    class Base {
      list() {}
    }
    define(Base, { methods: { list: [say('base')] } })
    class Sub extends Base {
      override list() {}
    }
    define(Sub, { class: [say('sub')] })
    expect(onMethods(Sub)).toEqual({ list: ['base'] })
  })
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
  define(Users, { class: [say('above'), listed, say('below')] })
  expect(happened).toEqual(['done with below', 'undone', 'done with above,below'])

  const refuse = decorator({
    name: 'refuse',
    class() {
      throw new Error('refused')
    },
  })
  happened.length = 0
  expect(() => define(Users, { class: [refuse] })).toThrow('refused')
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
