import type { ConstValueNode, GraphQLArgument, GraphQLInputField, OperationDefinitionNode, ValueNode } from 'graphql'
import { isObject, memberAt } from '../../shared/values/json.ts'
import type { Variables } from '../execution/execute.ts'
import type { Graphql } from '../packages.ts'

/** Reads values of an operation before the variables are checked, and records whether a variable was read. */
export class Values {
  readonly #graphql: Graphql
  readonly #defaults = new Map<string, unknown>()
  #variables: Variables
  areRead = false

  constructor(graphql: Graphql, operation: OperationDefinitionNode, variables: Variables) {
    this.#graphql = graphql
    this.#variables = variables
    for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
      if (defaultValue !== undefined) {
        this.#defaults.set(variable.name.value, graphql.valueFromASTUntyped(defaultValue))
      }
    }
  }

  /** Returns a value, or a member of it; what is missing has the default of the schema, `undefined` without one. */
  at(node: ValueNode | undefined, path: readonly string[] = [], input?: Input): unknown {
    if (node?.kind === 'Variable') return inputAt(this.#graphql, this.#variable(node.name.value), path, input)
    const [name, ...inside] = path
    if (name !== undefined && node?.kind === 'ObjectValue') {
      const field = node.fields.find((one) => one.name.value === name)
      return this.at(field?.value, inside, memberOf(this.#graphql, input, name))
    }
    // A list or an object is not a number, and may be large.
    if (node?.kind === 'ListValue' || node?.kind === 'ObjectValue') return null
    return inputAt(this.#graphql, node && this.#graphql.valueFromASTUntyped(node), path, input)
  }

  #variable(name: string): unknown {
    this.areRead = true
    const given = this.#variables
    const value = given !== undefined && Object.hasOwn(given, name) ? given[name] : undefined
    return value === undefined ? this.#defaults.get(name) : value
  }
}

type Input = GraphQLArgument | GraphQLInputField

/** Returns a value, or a member of it, as a resolver gets it: what is missing has the default of its own definition. */
function inputAt(
  graphql: Graphql,
  value: unknown,
  [name, ...inside]: readonly string[],
  input: Input | undefined,
): unknown {
  const given = value === undefined ? defaultOf(graphql, input) : value
  if (name === undefined) return given
  return isObject(given) ? inputAt(graphql, memberAt(given, [name]), inside, memberOf(graphql, input, name)) : undefined
}

function memberOf(graphql: Graphql, input: Input | undefined, name: string): Input | undefined {
  const type = graphql.getNamedType(input?.type)
  return graphql.isInputObjectType(type) ? type.getFields()[name] : undefined
}

/** Returns the default of an input: a value up to version 16 of the package; since 17, it may also be text. */
function defaultOf(graphql: Graphql, input: object | undefined): unknown {
  const one = input as { defaultValue?: unknown; default?: { value?: unknown; literal?: ConstValueNode } } | undefined
  const { literal, value = one?.defaultValue } = one?.default ?? {}
  return literal === undefined ? value : graphql.valueFromASTUntyped(literal)
}
