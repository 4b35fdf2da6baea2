// The same with all rules of axe in each colour scheme and at each width.
import './development-page-browser.test.ts'
