import { didYouMean } from '../../../kernel/index.ts'
import { isObject, type Json } from '../values/json.ts'

/** Finds what is wrong with the members of a plugin's fragment: the error is for the plugin's author, not for a reader of the document. */
export function faultOf(kind: string, fragment: unknown, functions: readonly string[], data: readonly string[] = []) {
  if (!isObject(fragment)) return `its ${kind} is not an object`
  const members = [...data, ...functions]
  const unknown = Object.keys(fragment).find((name) => !members.includes(name))
  if (unknown !== undefined) {
    return `"${kind}.${unknown}" is not a member.${didYouMean(unknown, members)} It takes ${members.join(', ')}`
  }
  const wrong = functions.find((name) => (fragment as Json)[name] !== undefined && typeof fragment[name] !== 'function')
  return wrong && `its ${kind}.${wrong} is not a function`
}
