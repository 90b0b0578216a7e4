# %% points to polygons, areas and a map
#| image: full
#| figure
#| stdout: inside 1
import geopandas as gpd, matplotlib.pyplot as plt
from shapely.geometry import Point, Polygon
areas = gpd.GeoDataFrame({"name": ["a"]}, geometry=[Polygon([(0, 0), (2, 0), (2, 2), (0, 2)])], crs="EPSG:4326")
points = gpd.GeoDataFrame(geometry=[Point(1, 1), Point(3, 3)], crs="EPSG:4326")
print("inside", len(gpd.sjoin(points, areas, predicate="within")))
ax = areas.plot(alpha=0.4); points.plot(ax=ax, color="red"); plt.title("Map"); plt.show()

# %% coordinates in metres and distances
#| image: full
#| stdout: about 500 km
import geopandas as gpd
from shapely.geometry import Point
cities = gpd.GeoSeries([Point(13.405, 52.52), Point(11.582, 48.135)], crs="EPSG:4326").to_crs("EPSG:32632")
print("about", round(cities.iloc[0].distance(cities.iloc[1]) / 100_000) * 100, "km")

# %% GeoJSON, shapefile and GeoPackage are written and read
#| image: full
#| file: places.geojson
#| file: places.gpkg
#| stdout: 2 2 2
import geopandas as gpd
from shapely.geometry import Point
places = gpd.GeoDataFrame({"name": ["Bonn", "Köln"]}, geometry=[Point(7.1, 50.7), Point(6.96, 50.94)], crs=4326)
places.to_file("/mnt/data/places.geojson", driver="GeoJSON"); places.to_file("/mnt/data/places.gpkg"); places.to_file("/mnt/data/places.shp")
print(*(len(gpd.read_file(f"/mnt/data/places.{ending}")) for ending in ("geojson", "gpkg", "shp")))

# %% folium map with markers as HTML
#| image: standard
#| file: map.html
#| mime: text/html
import folium
chart = folium.Map(location=[52.52, 13.405], zoom_start=10)
folium.Marker([52.52, 13.405], popup="Berlin").add_to(chart); chart.save("/mnt/data/map.html")
chart

# %% choropleth in folium from GeoJSON
#| image: full
#| file: choropleth.html
import folium, pandas as pd
shape = {"type": "FeatureCollection", "features": [{"type": "Feature", "id": "A", "properties": {"name": "A"}, "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}}]}
chart = folium.Map([0, 0]); folium.Choropleth(shape, data=pd.DataFrame({"id": ["A"], "v": [1.0]}), columns=["id", "v"], key_on="feature.id", bins=[0, 1, 2, 3]).add_to(chart)
chart.save("/mnt/data/choropleth.html")

# %% distance on the ellipsoid and hexagons
#| image: full
#| stdout: 5600
#| stdout: 15
import h3
from pyproj import Geod
print(round(Geod(ellps="WGS84").inv(-74.006, 40.7128, -0.1278, 51.5074)[2] / 1000, -2))
print(len(h3.latlng_to_cell(52.5, 13.4, 7)))
