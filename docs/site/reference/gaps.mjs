/** The words of a name or a sentence, without those that say nothing. */
const wordsOf = (text) =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => !['', 'a', 'an', 'the', 'of', 'its', 'this', 'is', 'for'].includes(word))

/** Whether a docstring is there and says more than the name: «The name of the plugin.» of `plugin.name` says too little. */
function saysSomething({ name, doc }, owner) {
  const known = new Set(wordsOf(`${owner} ${name}`))
  return wordsOf(doc.text).some((word) => !known.has(word))
}

/**
 * The public names and members without a docstring. What is written out inside of a type may be described by the docstring around it,
 * which then has its name in backticks.
 *
 * @param {import('./model.d.mts').Reference} reference
 * @returns {string[]}
 */
export function undocumented({ names }) {
  const visit = (member, owner, around) => {
    const path = owner === '' ? member.name : `${owner}.${member.name}`
    const isNamed = [...around.matchAll(/`[^`]+`/g)].some(([code]) => code.split(/[^\w$]+/).includes(member.name))
    const isMissing = member.name !== 'constructor' && !isNamed && !saysSomething(member, owner)
    // The members of an interface have places for docstrings of their own.
    const told = /^(?:interface|class) /.test(member.signatures[0]) ? '' : `${around}\n${member.doc.text}`
    const within = member.members.flatMap((one) => visit(one, path, told))
    return [...(isMissing ? [`${member.file}:${member.line} ${path}`] : []), ...within]
  }
  return [...new Set(names.flatMap((name) => visit(name, '', '')))].sort()
}
