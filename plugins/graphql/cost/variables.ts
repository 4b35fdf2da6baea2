import type { OperationDefinitionNode, ValueNode } from 'graphql'
import { memberAt } from '../../shared/values/json.ts'
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

  /** Returns a value, or a member of it; `undefined` if it is missing. */
  at(node: ValueNode | undefined, path: readonly string[] = []): unknown {
    if (node?.kind === 'Variable') return memberAt(this.#variable(node.name.value), path)
    const [name, ...inside] = path
    if (name !== undefined) {
      const field = node?.kind === 'ObjectValue' ? node.fields.find((one) => one.name.value === name) : undefined
      return this.at(field?.value, inside)
    }
    // A list or an object is not a number, and may be large.
    if (node === undefined || node.kind === 'ListValue' || node.kind === 'ObjectValue') return undefined
    return this.#graphql.valueFromASTUntyped(node)
  }

  #variable(name: string): unknown {
    this.areRead = true
    const given = this.#variables
    const value = given !== undefined && Object.hasOwn(given, name) ? given[name] : undefined
    return value === undefined ? this.#defaults.get(name) : value
  }
}
