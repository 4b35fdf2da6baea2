import type { ConstValueNode, GraphQLArgument, GraphQLInputField, OperationDefinitionNode, ValueNode } from 'graphql'
import { isObject, memberAt } from '../../shared/values/json.ts'
import type { Variables } from '../execution/execute.ts'
import type { Graphql } from '../packages.ts'

/** Reads values of an operation before the variables are checked, and records whether a variable was read. */
export class Values {
  readonly #graphql: Graphql
  readonly #variables: Variables
  readonly #defaults: ReadonlyMap<string, ConstValueNode | undefined>
  areRead = false

  constructor(graphql: Graphql, { variableDefinitions = [] }: OperationDefinitionNode, variables: Variables) {
    this.#graphql = graphql
    this.#variables = variables
    this.#defaults = new Map(variableDefinitions.map((one) => [one.variable.name.value, one.defaultValue]))
  }

  /** Returns a value, or a member of it, as a resolver gets it: what is missing has the default of its own definition. */
  at(node: ValueNode | undefined, path: readonly string[] = [], input?: Input): unknown {
    if (node?.kind === 'Variable') {
      this.areRead = true
      const given = memberAt(this.#variables, [node.name.value])
      return given === undefined
        ? this.at(this.#defaults.get(node.name.value), path, input)
        : this.#in(given, path, input)
    }
    const [name, ...inside] = path
    if (name !== undefined && node?.kind === 'ObjectValue') {
      const field = node.fields.find((one) => one.name.value === name)
      return this.at(field?.value, inside, this.#memberOf(input, name))
    }
    // A list or an object is not a number, and may be large.
    if (node?.kind === 'ListValue' || node?.kind === 'ObjectValue') return null
    return this.#in(node && this.#graphql.valueFromASTUntyped(node), path, input)
  }

  #in(value: unknown, [name, ...inside]: readonly string[], input: Input | undefined): unknown {
    const given = value === undefined ? defaultOf(this.#graphql, input) : value
    if (name === undefined) return given
    return isObject(given) ? this.#in(memberAt(given, [name]), inside, this.#memberOf(input, name)) : undefined
  }

  #memberOf(input: Input | undefined, name: string): Input | undefined {
    const type = this.#graphql.getNamedType(input?.type)
    return this.#graphql.isInputObjectType(type) ? type.getFields()[name] : undefined
  }
}

type Input = GraphQLArgument | GraphQLInputField

/** Returns the default of an input: a value up to version 16 of the package; since 17, it may also be text. */
export function defaultOf(graphql: Graphql, input: Input | undefined): unknown {
  const one = input as { defaultValue?: unknown; default?: { value?: unknown; literal?: ConstValueNode } } | undefined
  const { literal, value = one?.defaultValue } = one?.default ?? {}
  return literal === undefined ? value : graphql.valueFromASTUntyped(literal)
}
