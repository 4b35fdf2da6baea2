// biome-ignore lint/correctness/noUnusedVariables: the scripts of pages, which follow this one, use it
function h(name, attributes, ...children) {
  const node = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value)
    else if (value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : value)
  }
  node.append(
    ...children.flat(Infinity).filter((one) => one !== undefined && one !== null && one !== false && one !== ''),
  )
  return node
}
