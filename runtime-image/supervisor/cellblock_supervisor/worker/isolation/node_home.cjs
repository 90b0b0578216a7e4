'use strict'
// process.cwd by the name that HOME gives to the folder of the files, as in cellblock_home.py.

const HOME = '/home/user'
const DATA = '/mnt/data'
const { cwd } = process
process.cwd = () => {
  const folder = cwd()
  const isInData = folder === DATA || folder.startsWith(`${DATA}/`)
  return process.env.HOME === HOME && isInData ? HOME + folder.slice(DATA.length) : folder
}
