import { defineErrors, didYouMean, OptionError, quoted } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'
import { type Check, isSchema, lazyCheckOf } from '../shared/schema/check.ts'
import type { InputOf } from '../validation/index.ts'

/** A validator of any library that follows Standard Schema v1: Zod 4, Valibot, ArkType and others. */
interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined
  }
}

/** A JSON Schema, or a TypeBox one. */
interface JsonSchema {
  readonly [keyword: string]: unknown
  readonly '~standard'?: never
}

/** The schema of a variant. */
export type VariantSchema = StandardSchema | JsonSchema

/** Turns an object with any members into `object`, so that every object fits, even one whose type is an interface. */
type Loosened<Type> = unknown extends Type ? unknown : { [name: string]: unknown } extends Type ? object : Type

/** The type that the function of a variant with that schema may return. */
type TakenBy<Schema> = Loosened<InputOf<Schema>> | PromiseLike<Loosened<InputOf<Schema>>>

const { UnknownVariantError, DuplicateVariantError, VariantMismatchError, VariantSchemaError } = defineErrors({
  UnknownVariantError: (name: string, known: readonly string[]) => {
    const names = known.length === 0 ? 'none' : known.map((one) => JSON.stringify(one)).join(', ')
    return `there is no variant ${JSON.stringify(name)}.${didYouMean(name, known)} Defined: ${names}`
  },
  DuplicateVariantError: (name: string) =>
    `the variant ${JSON.stringify(name)} is already defined. Choose another name`,
  VariantMismatchError: (name: string, pointer: string, why: string) =>
    `the variant ${JSON.stringify(name)} does not match its schema at ${JSON.stringify(pointer)}: ${why}`,
  VariantSchemaError: (why: string) =>
    `${why}. A variant takes a Standard Schema (Zod 4 for example), a TypeBox schema or a JSON Schema`,
})

const { VariantWithoutSchemaError } = defineErrors({
  VariantWithoutSchemaError: (name: string) =>
    `the variant ${JSON.stringify(name)} has no schema for validation. Pass one as the third argument of defineVariant`,
})

/** The types of the variants: by name, what each one returns and the context that it needs. */
export interface VariantTypes {
  readonly [name: string]: { readonly result: unknown; readonly context: unknown }
}

/** The options of one use of a variant. */
export interface UseVariantOptions<Context = unknown> {
  /** Whether to check the mapped data against the variant's schema; default false. */
  validate?: boolean
  /** The context, passed to the variant's function. */
  ctx?: Context
}

const useOptions = option.shape({ validate: option.flag().default(false), ctx: option.value<unknown>('anything') })

/** The options may be omitted exactly when the variant needs no context. */
type UseArguments<Context> = undefined extends Context
  ? [options?: UseVariantOptions<Context>]
  : [options: UseVariantOptions<Context> & { ctx: Context }]

type Free<Name, Variants> = Name extends keyof Variants ? never : Name
type Defined<Name extends string, Result, Context> = {
  readonly [Key in Name]: { readonly result: Awaited<Result>; readonly context: Context }
}

/** One form of a response. */
interface Variant {
  /** Makes the response from the data. */
  readonly map: (data: never, ctx: never) => unknown
  /** Checks a response by its schema, which is compiled at the first use; `undefined` without a schema. */
  readonly check: Check | undefined
}

/** Named ways to show one type of data; made by {@link serializer}. */
export class Serializer<Data, Variants extends VariantTypes = {}> {
  // A map, so that a variant may have any name, even `__proto__`.
  readonly #variants = new Map<string, Variant>()

  /**
   * Adds a variant and returns the same serializer, which then knows its name and type.
   *
   * The schema decides the type that the function returns; it is run only by `useVariant` with `validate: true`.
   *
   * @throws DuplicateVariantError for a name that already exists.
   * @example
   * const users = serializer<{ name: string; email: string }>()
   *   .defineVariant('public', (user) => ({ name: user.name }))
   *   .defineVariant('own', (user, ctx: { locale: string }) => ({ ...user, locale: ctx.locale }))
   * await users.useVariant('own', { name: 'Ann', email: 'ann@example.com' }, { ctx: { locale: 'en' } })
   */
  defineVariant<const Name extends string, Result, Context = undefined>(
    name: Free<Name, Variants>,
    map: (data: Data, ctx: Context) => Result,
  ): Serializer<Data, Variants & Defined<Name, Result, Context>>
  defineVariant<
    const Name extends string,
    const Schema extends VariantSchema,
    Result extends TakenBy<Schema>,
    Context = undefined,
  >(
    name: Free<Name, Variants>,
    map: (data: Data, ctx: Context) => Result,
    schema: Schema,
  ): Serializer<Data, Variants & Defined<Name, Result, Context>>
  defineVariant(name: string, map: Variant['map'], schema?: VariantSchema): never {
    if (typeof name !== 'string' || name === '') throw OptionError('defineVariant(name)', quoted(name), 'a name')
    if (typeof map !== 'function') throw OptionError(`defineVariant(${JSON.stringify(name)}, map)`, map, 'a function')
    if (this.#variants.has(name)) throw DuplicateVariantError(name)
    if (schema !== undefined && !isSchema(schema)) {
      throw VariantSchemaError(`the schema is ${schema === null ? 'null' : `a ${typeof schema}`}`)
    }
    this.#variants.set(name, { map, check: schema && lazyCheckOf(schema, 'exact', VariantSchemaError) })
    // The same object; only its type grows.
    return this as never
  }

  /**
   * Maps data with one of the variants.
   *
   * @throws (as a rejection) UnknownVariantError, which lists the defined ones; with `validate: true`
   * VariantMismatchError, which names the variant and the place, or VariantWithoutSchemaError.
   * @example
   * const users = serializer<{ name: string }>().defineVariant('public', (user) => ({ name: user.name }))
   * const shown = await users.useVariant('public', { name: 'Ann' })
   */
  async useVariant<Name extends keyof Variants & string>(
    name: Name,
    data: Data,
    ...[options]: UseArguments<Variants[Name]['context']>
  ): Promise<Variants[Name]['result']> {
    const variant = this.#variants.get(name)
    if (variant === undefined) throw UnknownVariantError(String(name), [...this.#variants.keys()])
    // A misspelt `validate` would disable the check.
    const { validate, ctx } = useOptions.parse(options, 'useVariant')
    const mapped = await variant.map(data as never, ctx as never)
    if (!validate) return mapped
    if (variant.check === undefined) throw VariantWithoutSchemaError(name)
    const verdict = await variant.check(mapped)
    if (verdict.ok) return mapped
    const [{ path, message } = { path: '', message: 'it does not match' }] = verdict.issues
    throw Object.assign(VariantMismatchError(name, path, message), { cause: verdict.issues })
  }
}

/**
 * Makes a serializer for one type of data: variants are added with `defineVariant` and used by name.
 *
 * @example
 * const users = serializer<{ id: number; name: string; passwordHash: string }>()
 *   .defineVariant('public', (user) => ({ id: user.id, name: user.name }))
 * router.get('/users/me', () => users.useVariant('public', { id: 1, name: 'Ann', passwordHash: 'x' }))
 */
export function serializer<Data>(): Serializer<Data> {
  return new Serializer<Data>()
}
