/** For the script of a page: makes an element. Strings become text, never markup, so that data cannot run anything. */
export const elementsScript = `
function h(name, attributes, ...children) {
  const node = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value)
    else if (value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : value)
  }
  node.append(...children.flat(Infinity).filter((one) => one !== undefined && one !== null && one !== false && one !== ''))
  return node
}
`
